/**
 * Figure 4: WME-2 acknowledges to the owner alone, which tells all to invoke. WME-1 is tested alongside for
 * comparison.
 */
import { describe, expect, it } from 'vitest'
import { wme1, wme2 } from '../../../shared/protocols/wme/wme.ts'
import { Cluster } from './cluster.ts'
import { bodies, countByType, ofType, to } from './matchers.ts'
import { appliedAt, enter, eventsOf, exit, holder, issue, logAt, replaceOwner } from './scenes.ts'

const SIZES = [3, 5, 7]

describe('Figure 4', () => {
  it.each(SIZES)('acknowledgements go to the owner alone (N = %i)', participants => {
    const cluster = new Cluster(wme2, { participants })
    const by = enter(cluster, 2, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(ofType('invoke'))
    expect(cluster.network.every(to(2))).toBe(true)
    expect(countByType(cluster.network)).toEqual({ 'invoke-ack': participants - 1 })
  })

  it.each(SIZES)('in WME-1 they go to all (N = %i)', participants => {
    const cluster = new Cluster(wme1, { participants })
    const by = enter(cluster, 2, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(ofType('invoke'))
    expect(countByType(cluster.network)).toEqual({ 'invoke-ack': (participants - 1) ** 2 })
  })

  it.each(SIZES)('3 steps and O(N) messages until all have invoked it (N = %i)', participants => {
    const cluster = new Cluster(wme2, { participants })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    expect(cluster.deliverStep()).toHaveLength(participants - 1)
    expect(cluster.deliverStep()).toHaveLength(participants - 1)
    expect(appliedAt(cluster, 1)).toEqual(['x'])
    // Not even the owner's word that it holds the operation is enough: only the owner counts
    // acknowledgements.
    for (let id = 2; id <= participants; id++) expect(appliedAt(cluster, id)).toEqual([])
    cluster.fire(1, 'flush')
    expect(countByType(cluster.network)).toEqual({ 'do-invoke': participants - 1 })
    cluster.deliverStep()
    for (let id = 2; id <= participants; id++) expect(appliedAt(cluster, id)).toEqual(['x'])
    expect(cluster.network).toEqual([])
  })

  it.each(SIZES)('in WME-1 all have invoked it after 2 steps, with O(N²) messages (N = %i)', participants => {
    const cluster = new Cluster(wme1, { participants })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    const messages = cluster.deliverStep().length + cluster.deliverStep().length
    expect(messages).toBe(participants * (participants - 1))
    for (let id = 1; id <= participants; id++) expect(appliedAt(cluster, id)).toEqual(['x'])
    expect(cluster.timers(1)).toEqual(['ttl'])
  })

  it('a DOINVOKE rides on the next operation', () => {
    const cluster = new Cluster(wme2, { participants: 3 })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    expect(cluster.hasTimer(1, 'flush')).toBe(true)
    issue(cluster, by, 'y')
    expect(cluster.hasTimer(1, 'flush')).toBe(false)
    expect(bodies(cluster.network, 'invoke')[0]).toMatchObject({ committed: 2 })
    cluster.deliver(ofType('invoke'))
    expect(appliedAt(cluster, 2)).toEqual(['x'])
    expect(appliedAt(cluster, 3)).toEqual(['x'])
  })

  it('a DOINVOKE rides on the grant to the next owner', () => {
    const cluster = new Cluster(wme2, { participants: 3 })
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.deliver()
    issue(cluster, by, 'x')
    cluster.deliver()
    exit(cluster, by)
    expect(cluster.hasTimer(1, 'flush')).toBe(false)
    const delivered = cluster.deliver()
    expect(countByType(delivered)['do-invoke']).toBeUndefined()
    expect(appliedAt(cluster, 2)).toEqual(['x'])
    expect(appliedAt(cluster, 3)).toEqual(['x'])
  })

  it('a grant alone needs no DOINVOKE', () => {
    const cluster = new Cluster(wme2, { participants: 3 })
    enter(cluster, 1, 'a')
    expect(cluster.hasTimer(1, 'flush')).toBe(false)
  })

  it('the last DOINVOKE of a user that leaves is sent although nobody waits', () => {
    const cluster = new Cluster(wme2, { participants: 3 })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    exit(cluster, by)
    cluster.run(100)
    expect([1, 2, 3].map(id => appliedAt(cluster, id))).toEqual([['x'], ['x'], ['x']])
  })

  it('a new owner by consensus owes no DOINVOKE for what was decided', () => {
    const cluster = new Cluster(wme2, { participants: 3 })
    const old = enter(cluster, 1, 'a')
    issue(cluster, old, 'x')
    cluster.deliver(ofType('invoke'))
    const by = replaceOwner(cluster, [1], 2, 'b')
    expect(appliedAt(cluster, 2)).toEqual(['x'])
    expect(appliedAt(cluster, 3)).toEqual(['x'])
    expect(cluster.hasTimer(2, 'flush')).toBe(false)
    expect(by.epoch).toBe(1)
  })

  it('a DOINVOKE for more than the log holds makes the receiver ask for the rest', () => {
    const cluster = new Cluster(wme2, { participants: 3 })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.take(to(3))
    cluster.deliver()
    cluster.fire(1, 'flush')
    cluster.deliver(ofType('do-invoke'))
    expect(bodies(cluster.network, 'catch-up-request')).toHaveLength(1)
    cluster.deliver()
    expect(appliedAt(cluster, 3)).toEqual(['x'])
    expect(logAt(cluster, 3)).toHaveLength(2)
  })

  it('the next holder of the token is not told before it has invoked what came before', () => {
    const cluster = new Cluster(wme2, { participants: 5 })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    exit(cluster, by)
    cluster.try(4, 'b')
    cluster.deliver()
    expect(holder(cluster, 4, 'b').sequence).toBe(3)
    expect(eventsOf(cluster, 4, 'applied')).toHaveLength(1)
  })
})
