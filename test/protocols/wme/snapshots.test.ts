/**
 * Snapshots travel in pages: bounded, resumable, of one point of the log, and installed at once or not at
 * all.
 */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../shared/json.ts'
import { DEFAULT_TIMING, MESSAGE_FORMAT } from '../../../shared/protocols/protocol.ts'
import { weight } from '../../../shared/resource/canonical.ts'
import { Cluster, type ClusterOptions, type Sent } from './cluster.ts'
import { all, among, from, ofType, to } from './matchers.ts'
import { enter, eventsOf, exit, type Holder, isIn, issue, protocols, valueAt } from './scenes.ts'

const MESSAGE_WEIGHT = 2_000

const put = (key: string, letters: number, letter = 'x'): Json => [
  { put: key, value: letter.repeat(letters) },
]

describe.each(protocols)('snapshots %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, {
      participants: 3,
      checkRecovery: true,
      ...options,
      limits: { logKept: 3, messageWeight: MESSAGE_WEIGHT, ...options.limits },
    })

  function write(cluster: Cluster, by: Holder, count: number, name = 'key', letters = 500): void {
    for (let i = 1; i <= count; i++) {
      issue(cluster, by, `${name} ${i}`, put(`${name} ${i}`, letters))
      cluster.deliver()
    }
  }

  /** Participant 3 has missed more than the log keeps, and twenty cells have been written. */
  function behind(options: Partial<ClusterOptions> = {}): { cluster: Cluster; by: Holder } {
    const cluster = createCluster(options)
    const by = enter(cluster, 1, 'a')
    cluster.isolate(3)
    write(cluster, by, 20)
    cluster.reconnect(3)
    return { cluster, by }
  }

  const pagesSent = (cluster: Cluster) =>
    cluster.sent.flatMap(({ message: { body } }) => (body.type === 'snapshot-page' ? [body] : []))

  const isSame = (cluster: Cluster, participant: number, model: number) =>
    expect(cluster.state(participant).durable.replica).toEqual(cluster.state(model).durable.replica)

  /** It finds out that it is behind; everything is delivered until a page of this number is in flight. */
  function untilPage(cluster: Cluster, number: number): void {
    for (let round = 0; round < 500; round++) {
      const found = cluster.network.find(
        ({ message: { body } }) => body.type === 'snapshot-page' && body.number === number,
      )
      if (found !== undefined) return
      if (cluster.network.length > 0) cluster.deliverAt(0)
      else {
        const { participant, timer } = cluster.nextTimer()!
        cluster.fire(participant, timer)
      }
    }
    throw new Error(`there is no page ${number}`)
  }

  it('no page is heavier than a message may be, but for one cell or result', () => {
    const { cluster, by } = behind()
    issue(cluster, by, 'last')
    cluster.run(1_000)
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
    const pages = pagesSent(cluster)
    expect(pages.length).toBeGreaterThan(4)
    for (const { cells, results } of pages) {
      const heavy = [...cells.map(({ value }) => value), ...results.map(({ result }) => result)]
      const total = heavy.reduce<number>((sum, each) => sum + weight(each, 1e9), 0)
      expect(heavy.length === 1 || total <= MESSAGE_WEIGHT + 600).toBe(true)
    }
    isSame(cluster, 3, 1)
  })

  it('nothing of it counts before the last page is here, and then all of it is saved at once', () => {
    const { cluster, by } = behind()
    const before = new Map(cluster.storage(3))
    issue(cluster, by, 'last')
    untilPage(cluster, 3)
    expect(cluster.storage(3)).toEqual(before)
    expect(valueAt(cluster, 3, 'key 1')).toBeNull()
    cluster.run(1_000)
    isSame(cluster, 3, 1)
  })

  it('a page that is lost is asked for again, and is the same', () => {
    const { cluster, by } = behind()
    issue(cluster, by, 'last')
    untilPage(cluster, 2)
    const [lost] = cluster.take(ofType('snapshot-page'))
    // The sender goes on meanwhile.
    cluster.deliver()
    write(cluster, by, 1, 'meanwhile')
    cluster.fire(3, 'repeat')
    cluster.deliver(all(ofType('snapshot-request'), to(1)))
    const [again] = cluster.take(ofType('snapshot-page'))
    expect(again!.message.body).toEqual(lost!.message.body)
    cluster.hand(again!)
    cluster.deliver(all(ofType('snapshot-request'), to(1)))
    cluster.take(ofType('snapshot-page'))
    // The first one arrives after all. It is not taken for the next one, which is lost.
    cluster.hand(lost!)
    cluster.run(1_000)
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
    isSame(cluster, 3, 1)
  })

  it('pages of two snapshots are not mixed: a sender that begins anew is not asked for the next page', () => {
    const { cluster, by } = behind()
    issue(cluster, by, 'last')
    untilPage(cluster, 1)
    const first = cluster.sent.find(ofType('snapshot-request'))!
    cluster.take(ofType('snapshot-page'))
    cluster.crash(1)
    cluster.start(1)
    for (let i = 1; i <= 20; i++) {
      issue(cluster, by, `changed ${i}`, put(`key ${i}`, 300, 'y'))
      cluster.deliver(among(1, 2))
    }
    // The first request arrives a second time, and begins another snapshot under the same name.
    cluster.hand(first)
    cluster.take(ofType('snapshot-page'))
    cluster.fire(3, 'repeat')
    cluster.deliver(all(ofType('snapshot-request'), to(1)))
    expect(cluster.take(ofType('snapshot-page'))).toEqual([])
    expect(cluster.sent.filter(ofType('snapshot-gone'))).toHaveLength(1)
    cluster.run(5_000)
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
    isSame(cluster, 3, 1)
  })

  it('a late page of another series is not taken for the next one', () => {
    const whole = behind()
    issue(whole.cluster, whole.by, 'last')
    whole.cluster.run(5_000)
    const { point } = pagesSent(whole.cluster).at(-1)!
    const { cluster, by } = behind()
    issue(cluster, by, 'last')
    untilPage(cluster, 1)
    const [next] = cluster.take(ofType('snapshot-page'))
    const body = { ...next!.message.body, series: 'another one', cells: [], results: [], point } as never
    cluster.hand({ ...next!, message: { ...next!.message, body } })
    cluster.run(5_000)
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
    isSame(cluster, 3, 1)
  })

  it('what is written, changed and deleted meanwhile is in it: it is of one point of the log', () => {
    const { cluster, by } = behind()
    issue(cluster, by, 'last')
    untilPage(cluster, 3)
    for (let i = 1; i <= 20; i += 2) {
      issue(cluster, by, `changed ${i}`, put(`key ${i}`, 300, 'y'))
      cluster.deliver(all(from(1, 2), to(1, 2)))
      issue(cluster, by, `deleted ${i}`, [{ delete: `key ${i + 1}` }])
      cluster.deliver(all(from(1, 2), to(1, 2)))
    }
    cluster.run(2_000)
    isSame(cluster, 3, 1)
    expect(valueAt(cluster, 3, 'key 1')).toBe('y'.repeat(300))
    expect(valueAt(cluster, 3, 'key 2')).toBeNull()
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
  })

  it('it comes to an end although every round trip more is changed than a page holds', () => {
    const { cluster, by } = behind()
    let written = 0
    cluster.lose(sent => sent.to === 3 && sent.message.body.type === 'invoke')
    issue(cluster, by, 'last')
    for (let round = 0; round < 60 && eventsOf(cluster, 3, 'restored').length === 0; round++) {
      const toThird = cluster.take(sent => sent.from === 3 || sent.to === 3)
      for (let i = 1; i <= 8; i++) {
        cluster.deliver(all(from(1, 2), to(1, 2)))
        issue(cluster, by, `busy ${++written}`, put(`key ${i}`, 900, `${round % 10}`))
      }
      cluster.deliver(all(from(1, 2), to(1, 2)))
      for (const sent of toThird) cluster.hand(sent)
      if (cluster.network.length === 0) cluster.run(50)
      if (cluster.state(3).soft.incoming === null && cluster.state(3).soft.asking === null) {
        const { length } = cluster.state(1).durable.log
        const body = { type: 'do-invoke', epoch: 0, committed: length + 1_000, digest: '' } as const
        cluster.hand({ from: 1, to: 3, message: { format: 1, configuration: 1, body } })
      }
    }
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
  })

  it.each([
    ['receiver', 3],
    ['sender', 1],
  ])('a crash of the %s in the middle costs time alone', (_who, crashes) => {
    const { cluster, by } = behind()
    issue(cluster, by, 'last')
    untilPage(cluster, 2)
    cluster.crash(crashes)
    cluster.run(1_000)
    cluster.start(crashes)
    cluster.try(2, 'b')
    cluster.run(60_000)
    isSame(cluster, 3, 2)
    isSame(cluster, 1, 2)
  })

  it('a crash after any effect of the last page leaves all of the snapshot or nothing', () => {
    for (let effects = 0; effects < 4; effects++) {
      const { cluster, by } = behind()
      const before = new Map(cluster.storage(3))
      issue(cluster, by, 'last')
      const isLast = () =>
        cluster.network.some(({ message: { body } }) => body.type === 'snapshot-page' && body.point !== null)
      for (let number = 0; !isLast(); number++) untilPage(cluster, number)
      const [last] = cluster.take(ofType('snapshot-page'))
      cluster.crashDuringNextStep(3, effects)
      cluster.hand(last!)
      if (effects === 0) expect(cluster.storage(3)).toEqual(before)
      cluster.start(3)
      if (effects > 0) expect(valueAt(cluster, 3, 'key 20')).toBe('x'.repeat(500))
      cluster.try(3, 'b')
      cluster.run(500)
      exit(cluster, by)
      cluster.run(20_000)
      isSame(cluster, 3, 1)
      expect(isIn(cluster, 3, 'b')).toBe(true)
    }
  })

  it('one participant is served at a time, and the next when it is its turn', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 1, 'a')
    cluster.isolate(4, 5)
    write(cluster, by, 20)
    cluster.reconnect(4, 5)
    cluster.lose(sent => sent.to === 4 && sent.message.body.type === 'snapshot-page' && cluster.now < 9_000)
    issue(cluster, by, 'last')
    cluster.run(60_000)
    cluster.try(4, 'b')
    cluster.try(5, 'c')
    cluster.run(60_000)
    isSame(cluster, 4, 1)
    isSame(cluster, 5, 1)
    expect(cluster.sent.some(ofType('snapshot-gone'))).toBe(true)
  })

  it('a sender that does not answer keeps no other from helping', () => {
    const { cluster, by } = behind({ participants: 5 })
    issue(cluster, by, 'last')
    untilPage(cluster, 0)
    // From now on the owner hears nothing from participant 3; the others do.
    cluster.lose(sent => sent.from === 3 && sent.to === 1)
    cluster.take(ofType('snapshot-page'))
    cluster.user(3, { type: 'read', request: 'r' })
    cluster.run(2_000)
    isSame(cluster, 3, 1)
    expect(pagesSent(cluster).length).toBeGreaterThan(4)
  })

  /** The time until this many repeats have been in vain: each interval is twice as long as the one before. */
  const vainMs = (repeats: number) => DEFAULT_TIMING.repeatMs * (2 ** repeats - 1)

  it('a sender that is gone in the middle is replaced by another after a few repeats', () => {
    const { cluster, by } = behind({ participants: 5 })
    issue(cluster, by, 'last')
    untilPage(cluster, 3)
    const { from: gone } = cluster.state(3).soft.incoming!
    const isBetween = ({ from, to }: Sent) => from + to === gone + 3 && (from === gone || to === gone)
    cluster.lose(isBetween)
    cluster.user(3, { type: 'read', request: 'r' })
    cluster.run(vainMs(3))
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
    isSame(cluster, 3, 1)
  })

  /**
   * Pages come late, and these participants keep offering snapshots. Returns how many were begun until one
   * was complete.
   */
  function begunSlowly(offeredBy: readonly number[]): number | null {
    const { cluster, by } = behind({ participants: 5, checkRecovery: false })
    const slowMs = vainMs(3) + DEFAULT_TIMING.repeatMs
    const late: { readonly at: number; readonly sent: Sent }[] = []
    cluster.lose(sent => {
      const isPage = sent.message.body.type === 'snapshot-page'
      if (isPage) late.push({ at: cluster.now + slowMs, sent })
      return isPage
    })
    issue(cluster, by, 'last')
    cluster.user(3, { type: 'read', request: 'r' })
    const enoughMs = 3 * pagesNeeded(cluster) * slowMs
    for (let passed = 0; passed < enoughMs && !isRestored(cluster); passed += DEFAULT_TIMING.repeatMs) {
      cluster.run(DEFAULT_TIMING.repeatMs)
      for (const from of offeredBy) offer(cluster, from)
      while (late[0] !== undefined && late[0].at <= cluster.now) cluster.hand(late.shift()!.sent)
    }
    const names = pagesSent(cluster).map(({ name }) => name)
    return isRestored(cluster) ? new Set(names).size : null
  }

  function offer(cluster: Cluster, from: number): void {
    const { committed } = cluster.state(from).soft
    const body = { type: 'snapshot-offer', epoch: 0, committed, incarnations: {} } as const
    cluster.hand({ from, to: 3, message: { format: MESSAGE_FORMAT, configuration: 1, body } })
  }

  it('a sender that is alive, but slower than a few repeats, does not start over', () => {
    expect(begunSlowly([1])).toBe(1)
  })

  it('senders that are alive but slower than a few repeats do not replace one another forever', () => {
    expect(begunSlowly([1, 2, 4, 5])).toBeGreaterThan(1)
  })

  const isRestored = (cluster: Cluster) => eventsOf(cluster, 3, 'restored').length > 0

  /** The number of pages that hold all cells of participant 1. */
  function pagesNeeded(cluster: Cluster): number {
    const { cells } = cluster.state(1).durable.replica
    const total = Object.values(cells).reduce<number>((sum, value) => sum + weight(value, 1e9), 0)
    return Math.ceil(total / MESSAGE_WEIGHT)
  }

  it('a participant whose storage is gone is taken back with a snapshot in pages', () => {
    const { cluster } = behind()
    cluster.run(2_000)
    cluster.wipe(3)
    cluster.start(3)
    const before = pagesSent(cluster).length
    cluster.run(6_000)
    expect(cluster.state(3).durable.membership.status).toBe('member')
    expect(pagesSent(cluster).length).toBeGreaterThan(before + 4)
    isSame(cluster, 3, 1)
  })

  it('results that were dropped meanwhile are not brought back', () => {
    const { cluster, by } = behind({ limits: { resultsKept: 6, logKept: 3, messageWeight: 800 } })
    for (let i = 1; i <= 6; i++) {
      issue(cluster, by, `read ${i}`, [{ get: 'key 1' }])
      cluster.deliver(all(from(1, 2), to(1, 2)))
    }
    cluster.take(() => true)
    issue(cluster, by, 'last')
    untilPage(cluster, 11)
    expect(cluster.state(3).soft.incoming!.results.length).toBeGreaterThan(0)
    for (let i = 1; i <= 9; i++) {
      issue(cluster, by, `more ${i}`)
      cluster.deliver(all(from(1, 2), to(1, 2)))
    }
    cluster.run(3_000)
    isSame(cluster, 3, 1)
  })
})
