/**
 * W9: what follows from a log that a majority holds may be written later, with the next save that may not
 * wait. These are the crashes that come before it was.
 */
import { describe, expect, it } from 'vitest'
import type { Emitted } from '../../../shared/protocols/protocol.ts'
import { Cluster } from './cluster.ts'
import { enter, eventsOf, exit, type Holder, INCREMENT, isIn, issue, protocols, valueAt } from './scenes.ts'

describe.each(protocols)('%s: saves that wait', (_name, protocol) => {
  const createCluster = () => new Cluster(protocol, { participants: 3 })

  function transact(cluster: Cluster, { participant, user, fence }: Holder, opId: string): void {
    cluster.user(participant, { type: 'issue', user, fence, opId, operation: INCREMENT, thenExit: true })
    cluster.deliver()
  }

  function restart(cluster: Cluster, participant: number): void {
    cluster.crashUnwritten(participant)
    cluster.start(participant)
    cluster.run(5_000)
  }

  const outcomes = (cluster: Cluster): Emitted[] => eventsOf(cluster, 1, 'outcome')

  it('W9 an operation that was answered is applied again, once, and answered alike', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    expect(outcomes(cluster)).toHaveLength(1)
    restart(cluster, 1)
    expect(isIn(cluster, 1, 'a')).toBe(true)
    expect(outcomes(cluster)).toHaveLength(2)
    expect(outcomes(cluster)[1]).toEqual(outcomes(cluster)[0])
    for (const participant of cluster.everybody) expect(valueAt(cluster, participant, 'n')).toBe(1)
  })

  it('its next operation waits until that is done', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    cluster.crashUnwritten(1)
    cluster.start(1)
    expect(issue(cluster, by, 'y')).toMatchObject([{ type: 'refused', refusal: { code: 'busy' } }])
    cluster.run(5_000)
    issue(cluster, by, 'y')
    cluster.run(5_000)
    expect(valueAt(cluster, 1, 'n')).toBe(2)
  })

  it('a user that left with its operation leaves again', () => {
    const cluster = createCluster()
    transact(cluster, enter(cluster, 1, 'a'), 'x')
    expect(eventsOf(cluster, 1, 'rem')).toHaveLength(1)
    expect(isIn(cluster, 1, 'a')).toBe(false)
    restart(cluster, 1)
    expect(isIn(cluster, 1, 'a')).toBe(false)
    expect(eventsOf(cluster, 1, 'rem')).toHaveLength(2)
    expect(valueAt(cluster, 1, 'n')).toBe(1)
    expect(enter(cluster, 2, 'b').fence).toBeGreaterThan(1)
  })

  it('regression: a user that has left and tries again gets a new grant, not its old one', () => {
    const cluster = createCluster()
    const first = enter(cluster, 1, 'a')
    transact(cluster, first, 'x')
    cluster.crashUnwritten(1)
    cluster.start(1)
    cluster.try(1, 'a')
    cluster.run(5_000)
    const fences = eventsOf(cluster, 1, 'crit').map(({ fence }) => fence)
    expect(new Set(fences).size).toBe(fences.length)
    expect(fences.at(-1)).toBeGreaterThan(first.fence)
  })

  it('a release that was said by itself does not wait', () => {
    const cluster = createCluster()
    exit(cluster, enter(cluster, 1, 'a'))
    restart(cluster, 1)
    expect(isIn(cluster, 1, 'a')).toBe(false)
    expect(eventsOf(cluster, 1, 'rem')).toHaveLength(1)
  })

  it('W9 a user that has come while another is inside may be lost: it asks again, and is let in', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(1, 'b')
    restart(cluster, 1)
    exit(cluster, by)
    cluster.run(5_000)
    expect(isIn(cluster, 1, 'b')).toBe(false)
    cluster.try(1, 'b')
    cluster.run(5_000)
    expect(isIn(cluster, 1, 'b')).toBe(true)
  })

  it('W9 a user for which others were asked is never lost', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    restart(cluster, 2)
    exit(cluster, by)
    cluster.run(5_000)
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('W9 one that waits behind another is written with the next thing that is', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(1, 'b')
    issue(cluster, by, 'x')
    restart(cluster, 1)
    exit(cluster, by)
    cluster.run(5_000)
    expect(isIn(cluster, 1, 'b')).toBe(true)
  })

  it('if the owner does not come back, the others have the operation all the same', () => {
    const cluster = createCluster()
    transact(cluster, enter(cluster, 1, 'a'), 'x')
    cluster.crashUnwritten(1)
    cluster.try(2, 'b')
    cluster.run(10_000)
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(valueAt(cluster, 2, 'n')).toBe(1)
  })

  it('everybody crashes at once', () => {
    const cluster = createCluster()
    transact(cluster, enter(cluster, 1, 'a'), 'x')
    for (const participant of cluster.everybody) cluster.crashUnwritten(participant)
    for (const participant of cluster.everybody) cluster.start(participant)
    cluster.run(5_000)
    expect(enter(cluster, 3, 'c').fence).toBeGreaterThan(1)
    expect(valueAt(cluster, 3, 'n')).toBe(1)
  })
})
