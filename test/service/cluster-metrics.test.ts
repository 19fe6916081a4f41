/** `/metrics?lock=`: what the participants of a lock count, also while one of them is gone. */
import { expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { request } from './http.ts'
import { expectStatus, type TestLock } from './lock.ts'
import { parsePrometheus, type Sample } from './prometheus.ts'

const cluster = useCluster(3)

/** The values by participant; those of several causes together. */
async function measured(
  metric: string,
  ...locks: readonly TestLock[]
): Promise<{ [participant: string]: number }> {
  const sums: { [participant: string]: number } = {}
  for (const { labels, value } of await samplesOf(metric, ...locks))
    sums[labels.participant!] = (sums[labels.participant!] ?? 0) + value
  return sums
}

async function samplesOf(metric: string, ...locks: readonly TestLock[]): Promise<Sample[]> {
  const path = `/metrics?lock=${locks.map(({ name }) => name).join(',')}`
  const { text } = expectStatus(await request(cluster.url, 'GET', path), 200)
  return parsePrometheus(text).filter(
    ({ name, labels }) => name === `baton_participant_${metric}` && labels.lock === locks[0]!.name,
  )
}

it('tells of grants, operations, ejections, epochs, who waits and who holds', async () => {
  const lock = cluster.lock()
  const other = cluster.lock()
  await other.transacted([{ increment: 'n' }])
  await lock.transacted([{ put: 'a', value: 'x'.repeat(100) }], { at: 1 })
  await lock.transacted([{ increment: 'n' }], { at: 2 })
  const grant = await lock.granted({ at: 3, ttlMs: 600_000 })
  await lock.applied(grant, [{ increment: 'n' }])
  const ticket = await lock.queued({ at: 2 })
  expect(await measured('up', lock, other)).toEqual({ 1: 1, 2: 1, 3: 1 })
  expect(await measured('grants_total', lock)).toEqual({ 1: 1, 2: 1, 3: 1 })
  expect(await measured('waiting', lock)).toEqual({ 1: 0, 2: 1, 3: 0 })
  expect(await measured('holding', lock)).toEqual({ 1: 0, 2: 0, 3: 1 })
  expect(await measured('calls', lock)).toEqual({ 1: 1, 2: 1, 3: 1 })
  await eventually(async () => {
    expect(await measured('operations_total', lock)).toEqual({ 1: 3, 2: 3, 3: 3 })
    expect(new Set(Object.values(await measured('state_weight', lock))).size).toBe(1)
  })
  expect((await measured('state_weight', lock))[1]).toBeGreaterThan(100)
  expect((await measured('peer_requests_total', lock))[1]).toBeGreaterThan(0)
  expectStatus(await lock.eject({ fence: grant.fence }), 200)
  expect(await measured('ejections_total', lock)).toEqual({ 1: 0, 2: 0, 3: 1 })
  const causes = (await samplesOf('ejections_total', lock)).filter(({ value }) => value > 0)
  expect(causes.map(({ labels }) => [labels.participant, labels.cause])).toEqual([['3', 'operator']])
  expect(await measured('births_total', lock)).toEqual({ 1: 1, 2: 1, 3: 1 })
  // Whoever came in waited for it, and whoever left or was ejected held it.
  await eventually(async () =>
    expect(await measured('wait_seconds_count', lock)).toEqual({ 1: 1, 2: 2, 3: 1 }),
  )
  expect(await measured('operation_seconds_count', lock)).toEqual({ 1: 1, 2: 1, 3: 1 })
  expect((await measured('hold_seconds_count', lock))[3]).toBe(1)
  expectStatus(await lock.withdraw(ticket.id), 204)
})

it('does not fail because a participant is gone, and says which', async () => {
  const lock = cluster.lock()
  await lock.transacted([{ increment: 'n' }])
  const before = await measured('epoch', lock)
  const grant = await lock.granted({ at: 2, ttlMs: 600_000 })
  await cluster.kill(2)
  expect(await measured('up', lock)).toEqual({ 1: 1, 2: 0, 3: 1 })
  await lock.released(await lock.granted({ at: 1, waitMs: 25_000 }))
  expect((await measured('suspicions_total', lock))[1]).toBeGreaterThan(0)
  expect((await measured('epoch_changes_total', lock))[1]).toBeGreaterThan(0)
  expect(grant.fence).toBeGreaterThan(0)
  expect(Object.keys(await measured('epoch', lock))).toEqual(['1', '3'])
  await cluster.restart(2)
  await eventually(async () => expect(await measured('up', lock)).toEqual({ 1: 1, 2: 1, 3: 1 }))
  expect(Object.keys(before)).toEqual(['1', '2', '3'])
})

it('asks nobody unless a lock is named', async () => {
  const { text } = expectStatus(await request(cluster.url, 'GET', '/metrics'), 200)
  expect(parsePrometheus(text).map(({ name }) => name)).not.toContain('baton_participant_up')
})

itKeepsEveryPromise(cluster)
