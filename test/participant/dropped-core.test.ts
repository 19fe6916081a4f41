/**
 * A first owner that began a lock alone finds that the others have agreed on another one, without it: callers
 * that asked it meanwhile are told, and the instance goes on.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import { LOCK, type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const REGISTRARS = 7
const MEMBERS = 3
const ADD = [{ increment: 'n' }] as never

let platform: MemoryPlatform
let owner: MemoryNode

beforeEach(() => {
  platform = new MemoryPlatform(REGISTRARS)
  owner = platform.node(firstOwnerOf(LOCK, REGISTRARS))
  expect(owner.id).toBeGreaterThan(MEMBERS)
})

const setAway = (nodes: readonly MemoryNode[], isAway: boolean) => {
  for (const node of nodes) node.isAway = isAway
}

const transact = (opId: string) =>
  owner.call({ type: 'transact', user: `user-${++platform.ids}`, opId, ops: ADD, waitMs: 1_000 })

/** Asks the owner while it is alone; the others then agree on a lock without it, and it comes back. */
async function askedMeanwhile(ask: () => Promise<ParticipantAnswer>): Promise<ParticipantAnswer> {
  const others = platform.nodes.filter(node => node !== owner)
  setAway(others, true)
  transact('first').catch(() => {})
  await platform.settle()
  const answer = ask()
  answer.catch(() => {})
  await platform.settle()
  setAway(others, false)
  owner.isAway = true
  const { participants, ...rest } = platform.defaults(1)
  const configuration = { ...rest, participants: participants.slice(0, MEMBERS) }
  const configured = await platform.during(platform.node(1).call({ type: 'configure', configuration }))
  expect(configured).toMatchObject({ type: 'done', body: { created: true } })
  owner.isAway = false
  return platform.during(answer)
}

describe('a core that is dropped', () => {
  const asked: { readonly [name: string]: () => Promise<ParticipantAnswer> } = {
    'a read': () => owner.call({ type: 'get', key: 'n', consistency: 'linearizable' }),
    'a listing': () =>
      owner.call({ type: 'list', prefix: '', limit: 10, after: null, consistency: 'linearizable' }),
    'the same operation again': () => transact('first'),
    'another operation': () => transact('second'),
    'an eject': () => owner.call({ type: 'eject', fence: 1 }),
    'a ticket': () =>
      owner.call({
        ...{ type: 'acquire', user: 'somebody', waitMs: 500, ttlMs: null, ticket: true, confirm: false },
      }),
  }
  it.each(Object.keys(asked))('answers %s, and the instance goes on', async name => {
    const answer = await askedMeanwhile(asked[name]!)
    expect(answer.type).not.toBe('done')
    expect(owner.aborts).toBe(0)
    const later = await platform.during(transact('later'))
    expect(later).toMatchObject({ type: 'elsewhere' })
  })

  it('does not say of what was on its way in it that it was not applied', async () => {
    const answer = await askedMeanwhile(asked['the same operation again']!)
    expect(answer).toMatchObject({ type: 'problem', outcome: 'unknown' })
  })
})
