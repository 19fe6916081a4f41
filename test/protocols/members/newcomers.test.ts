/** Newcomers, before and after they are named (rules M2, M3, M10), with the run that each rule forbids. */
import { describe, expect, it } from 'vitest'
import {
  addMachines,
  all,
  CHANGE_MS,
  change,
  changeTo,
  createCluster,
  doneAt,
  enter,
  epochOf,
  eventTypes,
  exit,
  from,
  holder,
  isSealed,
  issue,
  membersAt,
  membershipOf,
  ofType,
  protocols,
  saidBy,
  setOf,
  statusOf,
  TERMINATION_MS,
  to,
  valueAt,
} from './scenes.ts'

const HELP = ['catch-up', 'snapshot-offer', 'snapshot-page'] as const

describe.each(protocols)('newcomers %s', (_name, protocol) => {
  it('a newcomer that nobody wants calls for a while, is told so, and falls silent', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    cluster.run(60_000)
    expect(statusOf(cluster, 4)).toBe('joining')
    expect(cluster.timers(4)).toEqual([])
    expect(saidBy(cluster, 4)).toEqual(['join'])
    expect(epochOf(cluster, 1)).toBe(0)
  })

  it('M2 before it is named it has no vote, though it has everything', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    addMachines(cluster, 1)
    cluster.lose(ofType('change'))
    change(cluster, 2, 'A', setOf(1, 2, 4))
    cluster.run(1_000)
    expect(membershipOf(cluster, 4)).toMatchObject({ status: 'joining', isPrimed: true })
    expect(valueAt(cluster, 4)).toBe(1)
    cluster.isolate(2, 3)
    issue(cluster, by, 'y')
    cluster.run(2_000)
    expect(saidBy(cluster, 4)).toEqual(['join'])
    expect(eventTypes(cluster, 1).filter(type => type === 'outcome')).toHaveLength(1)
  })

  it('M2 one that was named says nothing in the epoch before it has everything', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 1, 'a')
    addMachines(cluster, 1)
    change(cluster, 1, 'A', setOf(1, 2, 4))
    cluster.deliver(ofType('invite', 'join', 'catch-up'))
    cluster.lose(all(to(4), ofType(...HELP)))
    issue(cluster, by, 'x')
    cluster.run(2_000)
    expect(epochOf(cluster, 1)).toBe(1)
    // It hears of the epoch, of its entries and of its end, and says only that it is not in.
    cluster.crash(1)
    cluster.try(2, 'b')
    cluster.run(TERMINATION_MS)
    expect(saidBy(cluster, 4)).toEqual(['join'])
    expect(epochOf(cluster, 2)).toBe(1)
    cluster.lose(() => false)
    cluster.run(TERMINATION_MS)
    expect(statusOf(cluster, 4)).toBe('member')
    expect(valueAt(cluster, 4)).toBe(1)
    expect(holder(cluster, 2, 'b').epoch).toBe(2)
  })

  it('M3 the decision names the incarnation that was brought up to date', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    const membership = membershipOf(cluster, 4)
    const incarnation = membership.status === 'joining' ? membership.incarnation : 0
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    for (const member of [1, 2, 4])
      expect(cluster.state(member).durable.epoch.incarnations).toEqual({ 4: incarnation })
  })

  it('M3 one that loses its storage before it is named is taken back by the new members', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    cluster.lose(ofType('change'))
    change(cluster, 2, 'A', setOf(1, 2, 4))
    cluster.run(200)
    const [asked] = cluster.sent.filter(ofType('change'))
    cluster.wipe(4)
    cluster.lose(all(from(4)))
    cluster.start(4)
    cluster.hand(asked!)
    cluster.deliver()
    expect(epochOf(cluster, 1)).toBe(1)
    const named = cluster.state(1).durable.epoch.incarnations[4]
    expect(membershipOf(cluster, 4)).not.toMatchObject({ incarnation: named })
    expect(statusOf(cluster, 4)).toBe('joining')
    cluster.lose(() => false)
    cluster.run(TERMINATION_MS)
    expect(statusOf(cluster, 4)).toBe('member')
    // Another epoch was needed: in the one that it was named in, an earlier life of it may have voted.
    expect(epochOf(cluster, 4)).toBe(2)
    const spoken = cluster.sent.filter(all(from(4), ofType('invoke-ack', 'installed', 'new-epoch')))
    for (const { message } of spoken) expect(message.body).toMatchObject({ epoch: 2 })
    expect(doneAt(cluster, 2)).toEqual(['A'])
  })

  it('M3 what was meant for an earlier life of it makes nobody a member', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    change(cluster, 1, 'A', setOf(1, 2, 4))
    cluster.deliver(ofType('invite', 'join', 'catch-up'))
    cluster.deliver(sent => !(sent.to === 4 && sent.message.body.type === 'catch-up'))
    const late = cluster.take(all(to(4), ofType('catch-up')))
    expect(late.length).toBeGreaterThan(0)
    cluster.wipe(4)
    cluster.start(4)
    for (const sent of late) cluster.hand(sent)
    expect(statusOf(cluster, 4)).toBe('joining')
    cluster.run(TERMINATION_MS)
    expect(statusOf(cluster, 4)).toBe('member')
    expect(epochOf(cluster, 4)).toBe(2)
  })

  it('M3 one that crashes while it is brought up to date begins again', () => {
    const cluster = createCluster(protocol, 3, { limits: { logKept: 2, logWeight: 100 } })
    const by = enter(cluster, 1, 'a')
    for (let count = 1; count <= 20; count++) {
      issue(cluster, by, `x${count}`)
      cluster.run(50)
    }
    addMachines(cluster, 1)
    cluster.lose(all(to(4), ofType('snapshot-page')))
    change(cluster, 2, 'A', setOf(1, 2, 4))
    cluster.run(500)
    expect(membershipOf(cluster, 4)).not.toMatchObject({ isPrimed: true })
    cluster.crash(4)
    cluster.lose(() => false)
    cluster.run(1_000)
    cluster.start(4)
    cluster.run(20_000)
    expect(doneAt(cluster, 2)).toEqual(['A'])
    expect(valueAt(cluster, 4)).toBe(20)
  })

  it('M3 one that crashes after it was brought up to date is still the one that was named', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    cluster.lose(ofType('change'))
    change(cluster, 2, 'A', setOf(1, 2, 4))
    cluster.run(200)
    cluster.crash(4)
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    // A majority of the new members is there without it.
    expect(doneAt(cluster, 2)).toEqual(['A'])
    cluster.start(4)
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 4)).toBe('member')
    expect(epochOf(cluster, 4)).toBe(1)
  })

  it('M10 a newcomer whose acquaintances are all gone answers a stranger of the new set', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 3)
    cluster.lose(ofType('change'))
    change(cluster, 2, 'A', setOf(4, 5, 6))
    cluster.run(500)
    // 4 hears nothing while the others change the members; then the old ones are switched off, and 6, too.
    cluster.isolate(4)
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 2)).toEqual(['A'])
    for (const gone of [1, 2, 3, 6]) cluster.crash(gone)
    cluster.crash(4)
    cluster.start(4)
    cluster.run(TERMINATION_MS)
    cluster.reconnect(4)
    cluster.try(5, 'b')
    cluster.run(2 * TERMINATION_MS)
    expect(statusOf(cluster, 4)).toBe('member')
    expect(holder(cluster, 5, 'b')).toBeDefined()
  })

  it('M10 a participant that is no member is not counted', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    const by = enter(cluster, 1, 'a')
    cluster.run(100)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    cluster.isolate(2, 4)
    issue(cluster, by, 'x')
    const [appended] = cluster.state(1).durable.log.slice(-1)
    const { sequence: length, digest } = appended!
    const { message } = cluster.sent[0]!
    const body = { type: 'invoke-ack', epoch: 1, length, digest } as const
    cluster.hand({ from: 3, to: 1, message: { ...message, body } })
    expect(eventTypes(cluster, 1)).not.toContain('outcome')
    const end = { type: 'new-epoch', epoch: 1, committed: 0, digest: '?', entries: [] } as const
    const said = { ...end, owner: 1, requesting: false, joins: {} }
    cluster.hand({ from: 3, to: 1, message: { ...message, body: said } })
    expect(isSealed(cluster, 1)).toBe(false)
  })

  it('M10 a member that was removed while it was away is sent on, and settles what was begun', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 3, 'a')
    cluster.run(100)
    cluster.isolate(3)
    issue(cluster, by, 'lost')
    cluster.try(1, 'b')
    cluster.run(TERMINATION_MS)
    const other = holder(cluster, 1, 'b')
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    exit(cluster, other)
    addMachines(cluster, 3)
    changeTo(cluster, 1, 'B', setOf(5, 6, 7), cluster.state(1).durable.epoch.set!.config)
    // 1 and 2, all that 3 knows of, have only a tombstone each.
    expect(membershipOf(cluster, 1)).toEqual({ status: 'removed', hasData: false })
    cluster.crash(4)
    cluster.reconnect(3)
    cluster.try(3, 'c')
    cluster.run(TERMINATION_MS)
    expect(statusOf(cluster, 3)).toBe('removed')
    expect(membersAt(cluster, 3)).toEqual([5, 6, 7])
    const told = cluster.emitted.filter(({ participant }) => participant === 3).map(({ event }) => event)
    expect(told).toContainEqual(
      expect.objectContaining({
        type: 'ejected',
        user: 'a',
        pending: { opId: 'lost', outcome: 'not-applied' },
      }),
    )
    expect(told).toContainEqual(
      expect.objectContaining({
        type: 'refused',
        user: 'c',
        refusal: expect.objectContaining({ code: 'elsewhere' }),
      }),
    )
  })

  it('one that forgot everything learns who the members are', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 2)
    changeTo(cluster, 2, 'A', setOf(2, 4, 5))
    for (const gone of [1, 3]) cluster.crash(gone)
    cluster.wipe(2)
    cluster.start(2)
    cluster.try(4, 'b')
    cluster.run(3 * TERMINATION_MS)
    expect(statusOf(cluster, 2)).toBe('member')
    expect(membersAt(cluster, 2)).toEqual([2, 4, 5])
  })
})
