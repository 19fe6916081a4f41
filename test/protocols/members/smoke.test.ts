import { describe, expect, it } from 'vitest'
import { Cluster } from '../cluster.ts'
import { enter, epochOf, eventsOf, exit, isIn, issue, protocols, valueAt } from '../scenes.ts'

describe.each(protocols)('smoke %s', (_name, protocol) => {
  it('replaces one', () => {
    const cluster = new Cluster(protocol, { participants: 3, checkRecovery: true })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    expect(cluster.add()).toBe(4)
    cluster.run(100)
    cluster.user(2, {
      type: 'change-members',
      request: 'r',
      id: 'A',
      base: 0,
      members: { 1: '', 2: '', 4: '' },
    })
    cluster.run(5_000)
    console.log(cluster.sent.map(s => `${s.from}>${s.to} ${s.message.body.type}`).join(' '))
    expect(eventsOf(cluster, 2, 'members-changed')).toMatchObject([{ configuration: 1 }])
    expect([1, 2, 4].map(id => epochOf(cluster, id))).toEqual([1, 1, 1])
    expect(isIn(cluster, 1, 'a')).toBe(true)
    expect(cluster.view(3).membership).toBe('removed')
    exit(cluster, by)
    const next = enter(cluster, 4, 'b')
    issue(cluster, next, 'y')
    cluster.run(200)
    expect([1, 2, 4].map(id => valueAt(cluster, id))).toEqual([2, 2, 2])
  })
  it('replaces all', () => {
    const cluster = new Cluster(protocol, { participants: 3, checkRecovery: true })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    cluster.add()
    cluster.add()
    cluster.add()
    cluster.run(100)
    cluster.user(2, { type: 'change-members', request: 'r', id: 'A', base: 0, members: { 4: '', 5: '', 6: '' } })
    exit(cluster, by)
    cluster.run(5_000)
    expect(eventsOf(cluster, 2, 'members-changed')).toMatchObject([{ configuration: 1 }])
    const next = enter(cluster, 4, 'b')
    issue(cluster, next, 'y')
    cluster.run(200)
    expect([4, 5, 6].map(id => valueAt(cluster, id))).toEqual([2, 2, 2])
    cluster.run(60_000)
    expect([1, 2, 3, 4, 5, 6].flatMap(id => cluster.timers(id))).toEqual([])
  })
})
