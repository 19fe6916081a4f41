/** The log and the messages with its entries are bounded by weight, not by count alone. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../shared/json.ts'
import { excess, fittingEntries, heaviestLog } from '../../../shared/protocols/log-weight.ts'
import { DEFAULT_LIMITS } from '../../../shared/protocols/protocol.ts'
import { weightOf } from '../../../shared/protocols/wme/log.ts'
import type { Entry } from '../../../shared/protocols/wme/state.ts'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { bodies, ofType } from './matchers.ts'
import { enter, eventsOf, issue, logAt, protocols, valueAt } from './scenes.ts'

const heavy = (letters: number): Json => [{ put: 'n', value: 'x'.repeat(letters) }]

const weigh = (entries: readonly Entry[]): number =>
  entries.reduce((total, entry) => total + weightOf(entry), 0)

describe.each(protocols)('the weight of the log %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, checkRecovery: true, ...options })

  it('520 heavy batches do not stay in the log, neither in memory nor in storage', () => {
    const logWeight = 10_000
    const cluster = createCluster({ limits: { logWeight } })
    const by = enter(cluster, 1, 'a')
    for (let i = 1; i <= 520; i++) {
      issue(cluster, by, `op ${i}`, heavy(1_000))
      cluster.deliver()
      for (const id of [1, 2, 3]) {
        const kept = logAt(cluster, id)
        const last = kept.at(-1)!
        expect(weigh(kept) - weightOf(last)).toBeLessThanOrEqual(heaviestLog(logWeight))
        expect(cluster.state(id).derived.logWeight).toBe(weigh(kept))
      }
    }
    const stored = [...cluster.storage(1).keys()].filter(key => key.startsWith('log/'))
    expect(stored).toHaveLength(logAt(cluster, 1).length)
    expect(stored.length).toBeGreaterThan(4)
  })

  it('what is not committed stays, however heavy it is', () => {
    const cluster = createCluster({ limits: { logWeight: 500 } })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x', heavy(5_000))
    expect(logAt(cluster, 1).map(entry => entry.kind)).toEqual(['grant', 'operation'])
    cluster.deliver()
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    expect(valueAt(cluster, 1)).toBe('x'.repeat(5_000))
  })

  it('a gap is filled with messages that are bounded by weight', () => {
    const messageWeight = 3_000
    const cluster = createCluster({ limits: { messageWeight } })
    const by = enter(cluster, 1, 'a')
    cluster.isolate(3)
    for (let i = 1; i <= 9; i++) {
      issue(cluster, by, `op ${i}`, heavy(1_000))
      cluster.deliver()
    }
    cluster.reconnect(3)
    issue(cluster, by, 'last', heavy(20_000))
    const before = cluster.sent.length
    cluster.run(1_000)
    const pieces = bodies(cluster.sent.slice(before).filter(ofType('catch-up')), 'catch-up')
    expect(pieces.length).toBeGreaterThan(3)
    for (const { entries } of pieces) {
      expect(entries.length === 1 || weigh(entries) <= messageWeight).toBe(true)
    }
    expect(logAt(cluster, 3)).toEqual(logAt(cluster, 1))
  })
})

describe('what is kept, and what fits a message', () => {
  const limits = { ...DEFAULT_LIMITS, logKept: 8, logWeight: 100, entriesPerMessage: 4, messageWeight: 10 }
  const itself = (entry: number) => entry
  const drop = (log: number[], committed = log.length) =>
    excess(
      log,
      committed,
      itself,
      log.reduce((a, b) => a + b, 0),
      limits,
    )

  it('drops in runs: nothing up to a quarter more, then down to the limit', () => {
    expect(drop([25, 25, 25, 25, 25])).toBe(0)
    expect(drop([25, 25, 25, 25, 25, 1])).toBe(2)
    expect(drop(new Array(11).fill(1))).toBe(0)
    expect(drop(new Array(12).fill(1))).toBe(4)
  })

  it('never drops what is not committed', () => {
    expect(drop([90, 90, 90], 1)).toBe(1)
    expect(drop([500], 0)).toBe(0)
  })

  it('a message has at least one entry, and no more than fit', () => {
    expect(fittingEntries([50, 1], itself, limits)).toEqual([50])
    expect(fittingEntries([5, 5, 1], itself, limits)).toEqual([5, 5])
    expect(fittingEntries([1, 1, 1, 1, 1], itself, limits)).toEqual([1, 1, 1, 1])
    expect(fittingEntries([], itself, limits)).toEqual([])
  })
})
