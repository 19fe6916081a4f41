/** What is known of the holder only grows, in any order it is heard; a watcher is told the difference. */
import { describe, expect, it } from 'vitest'
import type { HolderStatus } from '../../worker/participant/calls.ts'
import {
  HolderKnowledge,
  nextHolderEvent,
  noteTold,
  toldSince,
} from '../../worker/participant/streams/holder-knowledge.ts'

const holder = (fence: number): HolderStatus => ({
  ...{ participant: 2, fence, since: '2026-11-17T09:30:00.000Z', expiresAt: '2026-11-17T09:31:00.000Z' },
})
const inside = (fence: number) => ({ holder: holder(fence), over: fence - 1 })
const over = (fence: number) => ({ holder: null, over: fence })

function knowing(...sightings: Parameters<HolderKnowledge['see']>[0][]): HolderKnowledge {
  const knowledge = new HolderKnowledge(-1)
  for (const sighting of sightings) knowledge.see(sighting)
  return knowledge
}

describe('knowledge of the holder', () => {
  it('is that of the highest fence', () => {
    expect(knowing(inside(3), inside(5)).present?.fence).toBe(5)
    expect(knowing(inside(5), inside(3)).present?.fence).toBe(5)
    expect(knowing(inside(5), over(3)).present?.fence).toBe(5)
  })

  it('does not bring back a holder that has left', () => {
    for (const late of [5, 4, 1]) {
      const knowledge = knowing(inside(5), over(5), inside(late))
      expect(knowledge.present).toBeNull()
      expect(knowledge.isFree).toBe(true)
    }
  })

  it('is unsure of a holder that only the log names', () => {
    const knowledge = knowing(over(4))
    knowledge.granted(7)
    expect(knowledge).toMatchObject({ isUnsure: true, isFree: false, present: null })
    knowledge.see(over(6))
    expect(knowledge.isUnsure).toBe(true)
    knowledge.see(over(7))
    expect(knowledge).toMatchObject({ isUnsure: false, isFree: true })
  })
})

describe('a watcher', () => {
  it('that the log told of a holder is told once more who it is, without an id, and once only', () => {
    const told = toldSince(null)
    expect(noteTold(told, { sequence: 7, participant: 2, fence: 7 })).toBe(true)
    const next = nextHolderEvent(told, knowing(inside(7)), 9)!
    expect(next.text).toMatch(/^event: holder\ndata: \{"sequence":9,"participant":2,"fence":7,"since":/)
    expect(nextHolderEvent(next.told, knowing(inside(7)), 9)).toBeNull()
  })

  it('is not told by the log of a holder that it was told of already, or of one before', () => {
    const { told } = nextHolderEvent(toldSince(null), knowing(inside(7)), 4)!
    for (const fence of [6, 7]) expect(noteTold(told, { sequence: fence, participant: 2, fence })).toBe(false)
    expect(noteTold(told, { sequence: 8, participant: 2, fence: 8 })).toBe(true)
  })

  it('is told once that nobody holds the lock, and only if it may believe that somebody does', () => {
    expect(nextHolderEvent(toldSince(null), knowing(over(7)), 4)).toBeNull()
    expect(nextHolderEvent(toldSince(0), knowing(over(7)), 4)).not.toBeNull()
    const { text, told } = nextHolderEvent(toldSince(3), knowing(over(7)), 4)!
    expect(text).toBe('id: 4\nevent: holder\ndata: {"sequence":4,"participant":null}\n\n')
    expect(nextHolderEvent(told, knowing(over(7)), 4)).toBeNull()
  })

  it('is not told that nobody holds the lock while that is not sure', () => {
    const knowledge = knowing(over(6))
    knowledge.granted(7)
    expect(nextHolderEvent(toldSince(3), knowledge, 4)).toBeNull()
  })
})
