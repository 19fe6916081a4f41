/** Fairness in calm stretches: bad histories of each protocol, and the bound that its order gives. */
import { describe, expect, test } from 'vitest'
import type { HistoryHeader } from '../../shared/history/events.ts'
import { orderBound } from '../../shared/history/fairness.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { build, HEADER, type HistoryBuilder, judged, messages, violations } from './builder.ts'

const PROTOCOLS: readonly ProtocolName[] = ['wme-1', 'wme-2', 'wme-consensus', 'ricart-agrawala', 'maekawa']

/** Three participants with one user each: `a` waits, `b` and `c` come and go in turn this many times. */
function busy(builder: HistoryBuilder, times: number, firstFence = 1): HistoryBuilder {
  for (let time = 0; time < times; time++) {
    const [user, participant] = time % 2 === 0 ? (['b', 2] as const) : (['c', 3] as const)
    builder.enter(user, firstFence + time, participant).leave(user, firstFence + time, participant)
  }
  return builder
}

const calm = (header: Partial<HistoryHeader> = {}) => build(header).push({ type: 'calm' })
const fault = (builder: HistoryBuilder) => builder.push({ type: 'fault' })
const healedAndEnded = (builder: HistoryBuilder) => builder.healed(1, 2, 3).settled().end()
/**
 * Two turns of each other participant, and two more of each while the request is on its way; maekawa has two
 * requests for each.
 */
const boundOf = (protocol: string) => (protocol === 'maekawa' ? 2 * 2 : 2) + 2 * 2

describe.each(PROTOCOLS)('a calm stretch of %s', protocol => {
  const header = { protocol, localHandoffs: 0 }
  const bound = boundOf(protocol)

  test('allows what the order of requests allows, and not one grant more', () => {
    const waited = (times: number) => busy(calm(header).try('a'), times).crit('a', 90).leave('a', 90)
    expect(violations(healedAndEnded(fault(waited(bound))))).toEqual([])
    expect(violations(healedAndEnded(fault(waited(bound + 1))))).toEqual(['starvation-freedom'])
    expect(violations(healedAndEnded(waited(bound + 1)))).toEqual(['starvation-freedom'])
  })

  test('is judged though the one that waits is never let in, and though no `healed` follows', () => {
    const builder = busy(calm(header).try('a'), bound + 1)
    expect(violations(fault(builder))).toEqual(['starvation-freedom'])
    expect(violations(busy(calm(header).try('a'), bound + 1))).toEqual(['starvation-freedom'])
    const [message] = messages(judged(builder), 'starvation-freedom')
    expect(message).toBe(`user "a" waited while others were let in ${bound + 1} times, not ${bound}`)
  })
})

describe('outside of calm stretches', () => {
  const header = { protocol: 'maekawa', localHandoffs: 0 }

  test('nothing is counted before the calm, after a fault, or without marks', () => {
    const many = 50
    const before = busy(build(header).try('a'), many).push({ type: 'calm' }).crit('a', 90).leave('a', 90)
    expect(violations(healedAndEnded(before))).toEqual([])
    const after = busy(fault(calm(header).try('a')), many)
      .crit('a', 90)
      .leave('a', 90)
    expect(violations(healedAndEnded(after))).toEqual([])
    expect(violations(busy(build(header).try('a'), many))).toEqual([])
  })

  test('a wait that a fault interrupts is counted anew', () => {
    const bound = boundOf('maekawa')
    const builder = fault(busy(calm(header).try('a'), bound)).push({ type: 'calm' })
    busy(builder, bound, 40).crit('a', 90).leave('a', 90)
    expect(violations(healedAndEnded(builder))).toEqual([])
  })

  test('a user that still waits when the calm ends is owed nothing', () => {
    const builder = fault(calm(header).try('a')).withdrawn('a')
    expect(violations(healedAndEnded(builder))).toEqual([])
  })
})

describe('the bound', () => {
  const header: HistoryHeader = { ...HEADER, participants: 3, localHandoffs: 3 }
  const users = (...counts: number[]) => new Map(counts.map((count, index) => [index + 1, count]))

  test('grows with the users at one participant, which need a turn each', () => {
    expect(orderBound(header, 1, users(1, 1, 1))).toBe(2 + 4)
    expect(orderBound(header, 1, users(3, 1, 1))).toBe(3 * 2 + 2 + 4)
  })

  test('grows with local handoffs, where a second user is there to follow', () => {
    expect(orderBound(header, 1, users(1, 2, 1))).toBe(1 + 3 + 1 + 6)
    expect(orderBound({ ...header, localHandoffs: 0 }, 1, users(1, 2, 1))).toBe(1 + 1 + 6)
  })

  test('is not known if a history does not say how many follow one another, or for another protocol', () => {
    expect(orderBound({ ...HEADER }, 1, users(1, 1))).toBeNull()
    expect(orderBound({ ...header, protocol: 'bakery' }, 1, users(1, 1))).toBeNull()
    // Then only the paper's bound is left: nine grants with three participants.
    const waited = (times: number) => busy(calm().try('a'), times).crit('a', 90).leave('a', 90)
    expect(violations(healedAndEnded(waited(9)))).toEqual([])
    expect(violations(healedAndEnded(waited(10)))).toEqual(['starvation-freedom'])
  })

  test('is the paper’s alone where there are readers', () => {
    const reading = calm({ protocol: 'ricart-agrawala', localHandoffs: 0 }).try('r', 1, 'shared')
    const builder = busy(reading.crit('r', 1).leave('r', 1).try('a'), 9, 2).crit('a', 90).leave('a', 90)
    expect(violations(healedAndEnded(builder))).toEqual([])
  })
})

describe('readers beside one another', () => {
  /** A reader waits at participant 1, or at 2, and then a writer at 1. The reader goes first, and stays. */
  const stays = (participant: number) => {
    const waiting = calm({ protocol: 'ricart-agrawala', localHandoffs: 0 }).try('r', participant, 'shared')
    return waiting.try('a').crit('r', 1, participant)
  }
  const readersCome = (builder: HistoryBuilder, times: number, firstFence: number) => {
    for (let fence = firstFence; fence < firstFence + times; fence++) {
      builder.try('s', 3, 'shared').crit('s', fence, 3).leave('s', fence, 3)
    }
    return builder
  }

  test('do not count while the one is inside that had waited there for longer', () => {
    const waited = (times: number) => {
      const beside = readersCome(stays(1), 20, 2).leave('r', 1)
      return healedAndEnded(readersCome(beside, times, 30).crit('a', 90).leave('a', 90))
    }
    // That reader is one of the nine.
    expect(violations(waited(8))).toEqual([])
    expect(violations(waited(9))).toEqual(['starvation-freedom'])
  })

  test('count while one stays at another participant: it has had the request of the writer', () => {
    const beside = readersCome(stays(2), 9, 2).leave('r', 1, 2)
    expect(violations(healedAndEnded(beside.crit('a', 90).leave('a', 90)))).toEqual(['starvation-freedom'])
  })

  test('count if the one at the same participant came later', () => {
    const later = calm({ protocol: 'ricart-agrawala', localHandoffs: 0 }).try('a').try('r', 1, 'shared')
    const beside = readersCome(later.crit('r', 1), 9, 2).leave('r', 1)
    expect(violations(healedAndEnded(beside.crit('a', 90).leave('a', 90)))).toEqual(['starvation-freedom'])
  })
})
