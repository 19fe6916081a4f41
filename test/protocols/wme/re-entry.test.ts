/**
 * Taking the lock again where the token is costs no message: its entry rides on what is sent anyway. It
 * leaves by itself only if its user asks for the confirmation, if its user stays, or if many have gathered.
 */
import { describe, expect, it } from 'vitest'
import type { Limits } from '../../../shared/protocols/protocol.ts'
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
  function settled(participants = 3, limits?: Partial<Limits>): Cluster {
    const cluster = new Cluster(protocol, { participants, timing, ...(limits && { limits }) })
    exit(cluster, enter(cluster, 1, 'first', { confirm: true }))
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

  it.each([1, 2, 3, 5])(
    'whose user has left again concerns nobody: no timer, ever (N = %i)',
    participants => {
      const cluster = settled(participants)
      for (const user of ['a', 'b', 'c']) {
        cluster.try(1, user)
        exit(cluster, holder(cluster, 1, user))
        expect(cluster.timers(1)).toEqual([])
      }
      cluster.run(60_000)
      expect(cluster.network).toEqual([])
    },
  )

  it('nor does one that was ejected, or whose grant expired', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    ejectHolder(cluster, 1, 'e')
    cluster.try(1, 'b', { ttlMs: 10 })
    cluster.fire(1, 'ttl')
    expect(eventsOf(cluster, 1, 'ejected')).toHaveLength(2)
    expect(cluster.timers(1)).toEqual([])
    expect(cluster.network).toEqual([])
  })

  it('a user that follows another at once has its own time', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    cluster.try(1, 'b')
    cluster.run(timing.confirmMs - 5)
    exit(cluster, holder(cluster, 1, 'a'))
    cluster.run(timing.confirmMs - 5)
    expect(isIn(cluster, 1, 'b')).toBe(true)
    expect(logAt(cluster, 2).length).toBeLessThan(logAt(cluster, 1).length)
    cluster.run(10)
    expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
  })

  it('does not keep the news of the operation before it from the others', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    const by = holder(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    exit(cluster, by)
    cluster.try(1, 'b')
    exit(cluster, holder(cluster, 1, 'b'))
    cluster.run(1_000)
    for (const id of [1, 2, 3]) expect(appliedAt(cluster, id)).toEqual(['x'])
    expect(cluster.timers(1)).toEqual([])
  })

  it('stays in the log of an owner that restarts, and is told then', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    exit(cluster, holder(cluster, 1, 'a'))
    cluster.crash(1)
    cluster.start(1)
    cluster.run(1_000)
    expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
  })

  it('leaves when its user stays, with those before it, and is confirmed', () => {
    const cluster = settled()
    for (const user of ['a', 'b', 'c']) {
      cluster.try(1, user)
      if (user !== 'c') exit(cluster, holder(cluster, 1, user))
    }
    expect(cluster.network).toEqual([])
    cluster.fire(1, 'confirm')
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

  it.each([{ entriesPerMessage: 32 }, { uncommitted: 8 }])(
    'leaves when too many would wait together (%o)',
    few => {
      const cluster = settled(3, few)
      let entries = 0
      while (cluster.network.length === 0 && entries < 1_000) {
        cluster.try(1, 'a')
        exit(cluster, holder(cluster, 1, 'a'))
        entries++
      }
      expect(entries).toBe(Object.values(few)[0])
      cluster.deliver()
      expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
    },
  )

  it('is repeated like every entry when it is lost', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    cluster.fire(1, 'confirm')
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

  it('nor at an owner of an earlier version, which does not know what it was asked before', () => {
    const cluster = settled()
    cluster.try(1, 'a')
    ejectHolder(cluster, 2, 'e')
    const ask = () => {
      for (const sent of cluster.take(ofType('eject'))) {
        const { round: _, ...body } = sent.message.body as { readonly round?: string }
        cluster.hand({ ...sent, message: { ...sent.message, body: body as never } })
      }
    }
    ask()
    cluster.deliver(ofType('eject-done'))
    ask()
    expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([{ user: 'a', reason: 'operator' }])
    cluster.take(ofType('eject-done'))
    cluster.try(1, 'b')
    cluster.fire(2, 'repeat')
    ask()
    cluster.deliver(ofType('eject-done'))
    ask()
    cluster.deliver(ofType('eject-done'))
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
    if (cluster.hasTimer(2, 'confirm')) cluster.fire(2, 'confirm')
    cluster.deliver()
    expect(logAt(cluster, 1).at(-1)).toEqual(logAt(cluster, 2).at(-1))
  })
})
