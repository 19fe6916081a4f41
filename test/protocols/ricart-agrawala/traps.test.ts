/** What a correct version adds to section 2 as it is printed (docs/specification.md, R1 to R8). */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { along, countByType, from, ofType, to } from './matchers.ts'

const create = (participants: number) => new Cluster({ participants, localHandoffs: 0 })

describe('R1 REPLYs are a set', () => {
  it('one that comes twice counts once', () => {
    const cluster = create(3)
    cluster.try(1)
    cluster.deliver(ofType('request'))
    const [reply] = cluster.take(along(2, 1))
    cluster.hand(reply!)
    cluster.hand(reply!)
    expect(cluster.inside()).toEqual([])
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
  })

  it('one to an earlier request is none to the present one', () => {
    const cluster = create(3)
    cluster.try(1)
    cluster.deliver(ofType('request'))
    const late = cluster.take(ofType('reply'))
    cluster.user(1, { type: 'withdraw', user: 'u' })
    cluster.try(1)
    expect(cluster.state(1).durable.own).toMatchObject({ phase: 'requesting', request: 2 })
    for (const reply of late) cluster.hand(reply)
    expect(cluster.inside()).toEqual([])
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
  })
})

describe('R3 a request that nobody needs any more', () => {
  it('is no request: those it deferred get their REPLY, and late REPLYs to it open nothing', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.try(2)
    cluster.deliver(along(2, 1))
    expect(Object.keys(cluster.state(1).durable.deferred)).toEqual(['2'])
    cluster.user(1, { type: 'withdraw', user: 'u' })
    expect(cluster.state(1).durable.own.phase).toBe('idle')
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
    expect(cluster.timers(1)).toEqual([])
  })

  it('ends with the time to wait', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.deliver()
    cluster.try(2, 'u', { waitMs: 1_000 })
    cluster.run(1_000)
    expect(cluster.emitted.at(-1)).toEqual({
      participant: 2,
      event: { type: 'withdrawn', user: 'u', reason: 'timeout' },
    })
    cluster.exit(1)
    cluster.run(60_000)
    expect(cluster.inside()).toEqual([])
    expect(cluster.timers(2)).toEqual([])
  })
})

describe('R4 ARE_YOU_THERE (7.4)', () => {
  it('as printed it would let two in; here the normal rule answers it', () => {
    // Node 2 asks with number 1, node 1 with number 1, too; node 2's REQUEST to node 1 is lost.
    const cluster = create(2)
    cluster.try(1)
    cluster.try(2)
    cluster.take(along(2, 1))
    // Node 2 lets node 1 go first. Node 1 is inside and has deferred nothing: Reply_Deferred[2] is FALSE.
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.state(1).durable.deferred).toEqual({})
    cluster.fire(2, 'repeat')
    expect(countByType(cluster.network)).toEqual({ 'are-you-there': 1 })
    // The printed answer is REPLY ("it must be that the REQUEST was not received"), and node 2 would enter
    // beside node 1.
    cluster.deliver(to(1))
    expect(countByType(cluster.network)).toEqual({ 'yes-i-am-here': 1 })
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
    cluster.exit(1)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('the same before the other one is inside: it requests, and has priority', () => {
    const cluster = create(3)
    cluster.try(1)
    cluster.try(2)
    cluster.take(along(2, 1))
    cluster.take(from(1))
    cluster.deliver()
    cluster.fire(2, 'repeat')
    cluster.deliver(to(1))
    expect(Object.keys(cluster.state(1).durable.deferred)).toEqual(['2'])
    cluster.deliver()
    expect(cluster.inside()).toEqual([])
    cluster.fire(1, 'repeat')
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
  })

  it('a lost REPLY is given again', () => {
    const cluster = create(2)
    cluster.try(2)
    cluster.deliver(to(1))
    cluster.take(ofType('reply'))
    cluster.fire(2, 'repeat')
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('is asked less and less often, and not at all when nobody waits', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.deliver()
    cluster.try(2)
    cluster.run(60_000)
    const asked = cluster.sent.filter(ofType('are-you-there')).length
    expect(asked).toBeGreaterThan(10)
    expect(asked).toBeLessThan(20)
    cluster.exit(1)
    cluster.run(1_000)
    expect(cluster.timers(2)).toEqual(['ttl'])
    cluster.exit(2)
    expect([cluster.timers(1), cluster.timers(2)]).toEqual([[], []])
  })
})

describe('messages', () => {
  it('that were overtaken do not take the place of later ones', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.deliver()
    cluster.try(2)
    const [first] = cluster.take(to(1))
    cluster.user(2, { type: 'withdraw', user: 'u' })
    cluster.try(2)
    cluster.deliver()
    cluster.hand(first!)
    expect(cluster.state(1).durable.deferred).toMatchObject({ 2: { request: 3 } })
    cluster.exit(1)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('that come twice change nothing: a deferral is noted once', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.deliver()
    cluster.try(2)
    const [request] = cluster.take(to(1))
    cluster.hand(request!)
    cluster.hand(request!)
    cluster.exit(1)
    expect(countByType(cluster.network)).toEqual({ reply: 1 })
  })
})

describe('R2 the highest number seen', () => {
  it('counts the node’s own requests, even those that were given up', () => {
    const cluster = create(2)
    const numbers: number[] = []
    for (let round = 0; round < 3; round++) {
      cluster.try(1)
      numbers.push(cluster.state(1).durable.own.request)
      cluster.user(1, { type: 'withdraw', user: 'u' })
    }
    expect(numbers).toEqual([1, 2, 3])
  })
})
