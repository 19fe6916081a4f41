/**
 * Taking the lock again where the token is costs no message: its entry rides on what is sent anyway, or
 * leaves after a while.
 */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { countByType, ofType } from './matchers.ts'
import {
  appliedAt,
  ejectHolder,
  enter,
  eventsOf,
  exit,
  holder,
  isIn,
  issue,
  logAt,
  protocols,
} from './scenes.ts'

const timing = { confirmMs: 20 }

describe.each(protocols)('re-entry %s', (_name, protocol) => {
  /** Participant 1 has the token, and all know the log. */
  function settled(participants = 3): Cluster {
    const cluster = new Cluster(protocol, { participants, timing })
    exit(cluster, enter(cluster, 1, 'first'))
    cluster.fire(1, 'flush')
    cluster.deliver()
    expect(cluster.network).toEqual([])
    return cluster
  }

  it.each([2, 3, 5])('sends nothing (N = %i)', participants => {
    const cluster = settled(participants)
    cluster.try(1, 'a')
    expect(isIn(cluster, 1, 'a')).toBe(true)
    exit(cluster, holder(cluster, 1, 'a'))
    expect(cluster.network).toEqual([])
  })

  it('is in the log and in storage all the same', () => {
    const cluster = settled()
    const before = logAt(cluster, 1).length
    cluster.try(1, 'a')
    expect(logAt(cluster, 1)).toHaveLength(before + 1)
    cluster.crash(1)
    cluster.start(1)
    expect(isIn(cluster, 1, 'a')).toBe(true)
    expect(logAt(cluster, 1)).toHaveLength(before + 1)
  })

  it('rides on the operation', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    issue(cluster, holder(cluster, 1, 'a'), 'x')
    expect(countByType(cluster.network)).toEqual({ invoke: 2 })
    cluster.deliver()
    expect(appliedAt(cluster, 1)).toEqual(['x'])
    expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
  })

  it('rides on the grant to another participant', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    cluster.try(2, 'b')
    cluster.deliver()
    exit(cluster, holder(cluster, 1, 'a'))
    cluster.deliver()
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
  })

  it('leaves when nothing else does, several together, and is confirmed', () => {
    const cluster = settled()
    for (const user of ['a', 'b', 'c']) {
      cluster.try(1, user)
      if (user !== 'c') exit(cluster, holder(cluster, 1, user))
    }
    expect(cluster.network).toEqual([])
    expect(cluster.hasTimer(1, 'flush')).toBe(true)
    cluster.fire(1, 'flush')
    expect(countByType(cluster.network)).toEqual({ invoke: 2 })
    cluster.deliver()
    expect(logAt(cluster, 3)).toEqual(logAt(cluster, 1))
    expect(eventsOf(cluster, 1, 'confirmed').at(-1)).toMatchObject({ user: 'c' })
  })

  it('leaves at once when its user waits for the confirmation', () => {
    const cluster = settled()
    cluster.try(1, 'a', { confirm: true })
    expect(isIn(cluster, 1, 'a')).toBe(false)
    expect(countByType(cluster.network)).toEqual({ invoke: 2 })
    cluster.deliver()
    expect(isIn(cluster, 1, 'a')).toBe(true)
  })

  it('leaves when too many would wait together', () => {
    const cluster = settled()
    let entries = 0
    while (cluster.network.length === 0 && entries < 1_000) {
      cluster.try(1, 'a')
      exit(cluster, holder(cluster, 1, 'a'))
      entries++
    }
    expect(entries).toBe(64)
    cluster.deliver()
    expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
  })

  it('is repeated like every entry when it is lost', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    cluster.fire(1, 'flush')
    cluster.take(ofType('invoke'))
    cluster.fire(1, 'repeat')
    cluster.deliver()
    expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
  })

  it('regression: an operator forces out a holder whose re-entry is not known, and nobody later', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    ejectHolder(cluster, 2, 'e')
    const [question] = cluster.take(ofType('eject'))
    cluster.hand(question!)
    const [answer] = cluster.take(ofType('eject-done'))
    cluster.hand(answer!)
    expect(eventsOf(cluster, 2, 'eject-done')).toEqual([])
    cluster.deliver()
    expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([{ user: 'a', reason: 'operator' }])
    expect(eventsOf(cluster, 2, 'eject-done')).toHaveLength(1)
    cluster.try(1, 'b')
    cluster.hand(question!)
    cluster.hand(answer!)
    cluster.deliver()
    expect(isIn(cluster, 1, 'b')).toBe(true)
  })

  it('an operator that asks again after a lost answer forces nobody out that came in since', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    ejectHolder(cluster, 2, 'e')
    cluster.deliver(ofType('eject'))
    cluster.deliver(ofType('eject-done'))
    cluster.deliver(ofType('eject'))
    expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([{ user: 'a', reason: 'operator' }])
    cluster.take(ofType('eject-done'))
    cluster.try(1, 'b')
    expect(eventsOf(cluster, 2, 'eject-done')).toEqual([])
    cluster.fire(2, 'repeat')
    cluster.deliver()
    expect(eventsOf(cluster, 2, 'eject-done')).toHaveLength(1)
    expect(isIn(cluster, 1, 'b')).toBe(true)
  })

  it('regression: the token came with a snapshot, so the log lacks what was sent to everybody', () => {
    const cluster = new Cluster(protocol, { participants: 3, timing, limits: { logKept: 2 } })
    const by = enter(cluster, 1, 'first')
    cluster.try(2, 'b')
    cluster.deliver()
    cluster.isolate(2)
    for (const opId of ['x', 'y', 'z', 'w']) {
      issue(cluster, by, opId)
      cluster.deliver()
    }
    exit(cluster, by)
    cluster.deliver()
    cluster.reconnect(2)
    cluster.fire(1, 'repeat')
    cluster.deliver()
    exit(cluster, holder(cluster, 2, 'b'))
    cluster.try(2, 'c')
    expect(isIn(cluster, 2, 'c')).toBe(true)
    if (cluster.hasTimer(2, 'flush')) cluster.fire(2, 'flush')
    cluster.deliver()
    expect(logAt(cluster, 1).at(-1)).toEqual(logAt(cluster, 2).at(-1))
  })
})
