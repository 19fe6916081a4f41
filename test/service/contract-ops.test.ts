/**
 * `POST …/grants/{id}/ops`: the built-in resource, and every operation once, whatever happens to its `opId`.
 */
import { describe, expect, it } from 'vitest'
import { itKeepsEveryPromise, useService } from './harness.ts'
import type { TestLock } from './lock.ts'

const service = useService()

/** One grant holds the lock while the test runs. */
async function holding(test: (lock: TestLock, grant: { id: string; fence: number }) => Promise<void>) {
  const lock = service.lock()
  const grant = await lock.granted()
  await test(lock, grant)
  await lock.released(grant)
}

describe('ops of the built-in resource', () => {
  it('answer with the sequence and one result for each, in order', () =>
    holding(async (lock, grant) => {
      const first = await lock.applied(grant, [
        { put: 'a', value: { any: ['JSON', 1, null] } },
        { get: 'a' },
        { get: 'absent' },
        { increment: 'n' },
        { increment: 'n', by: -2.5 },
        { append: 'list', value: 'x' },
        { append: 'list', value: 'y' },
        { delete: 'a' },
        { delete: 'a' },
      ])
      const revision = first.sequence
      expect(first.applied).toBe(true)
      expect(first.results).toEqual([
        { revision },
        { value: { any: ['JSON', 1, null] }, revision },
        { value: null, revision: 0 },
        { value: 1, revision },
        { value: -1.5, revision },
        { length: 1, revision },
        { length: 2, revision },
        { deleted: true },
        { deleted: false },
      ])
      const second = await lock.applied(grant, [{ get: 'n' }, { get: 'list' }])
      expect(second.sequence).toBeGreaterThan(first.sequence)
      expect(second.results).toEqual([
        { value: -1.5, revision },
        { value: ['x', 'y'], revision },
      ])
    }))

  it('200 with applied: false if a condition fails, and nothing of the batch is done', () =>
    holding(async (lock, grant) => {
      const { sequence } = await lock.applied(grant, [{ put: 'a', value: 1, ifRevision: 0 }])
      const failed = await lock.applied(grant, [
        { increment: 'n' },
        { put: 'a', value: 2, ifRevision: sequence + 7 },
        { delete: 'a' },
      ])
      expect(failed).toMatchObject({
        applied: false,
        results: [{ applied: false }, { error: 'revision_mismatch', revision: sequence }, { applied: false }],
      })
      expect((await lock.get('n')).body.code).toBe('no_such_key')
      expect(await lock.value('a')).toBe(1)
      const done = await lock.applied(grant, [{ put: 'a', value: 2, ifRevision: sequence }])
      expect(done.applied).toBe(true)
      const gone = await lock.applied(grant, [{ delete: 'a', ifRevision: done.sequence }])
      expect(gone.results).toEqual([{ deleted: true }])
    }))

  it.each([
    ['increment of a text', [{ put: 'k', value: 'text' }], { increment: 'k' }, 'not_a_number'],
    ['append to a number', [{ put: 'k', value: 1 }], { append: 'k', value: 1 }, 'not_a_list'],
    [
      'increment beyond the safe integers',
      [{ put: 'k', value: Number.MAX_SAFE_INTEGER }],
      { increment: 'k' },
      'out_of_range',
    ],
    [
      'put of what must not exist',
      [{ put: 'k', value: 1 }],
      { put: 'k', value: 2, ifRevision: 0 },
      'revision_mismatch',
    ],
  ])('%s fails like a condition', (_, before, op, error) =>
    holding(async (lock, grant) => {
      await lock.applied(grant, before)
      const failed = await lock.applied(grant, [op])
      expect(failed).toMatchObject({ applied: false, results: [{ error }] })
    }),
  )

  it('are applied one after the other, also if they are sent all at once', () =>
    holding(async (lock, grant) => {
      const all = await Promise.all(
        Array.from({ length: 12 }, () => lock.applied(grant, [{ increment: 'n' }])),
      )
      const values = all.map(({ results }) => results[0]!.value as number)
      expect(values.sort((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
      expect(new Set(all.map(({ sequence }) => sequence)).size).toBe(12)
    }))
})

describe('the same opId again', () => {
  const ops = [{ increment: 'n' }, { get: 'n' }]

  it('gives the same answer and applies nothing twice', () =>
    holding(async (lock, grant) => {
      const first = await lock.applied(grant, ops, 'once')
      const again = await lock.applied(grant, ops, 'once')
      expect(again).toEqual(first)
      expect(await lock.value('n')).toBe(1)
    }))

  it('also at the same time', () =>
    holding(async (lock, grant) => {
      const all = await Promise.all(Array.from({ length: 5 }, () => lock.applied(grant, ops, 'once')))
      expect(new Set(all.map(answer => JSON.stringify(answer))).size).toBe(1)
      expect(await lock.value('n')).toBe(1)
    }))

  it('also with the members of its ops in another order', () =>
    holding(async (lock, grant) => {
      const first = await lock.applied(grant, [{ put: 'a', value: { x: 1, y: 2 } }], 'once')
      const path = `/grants/${grant.id}/ops`
      const body = '{"ops":[{"value":{"y":2,"x":1},"put":"a"}],"opId":"once"}'
      expect((await lock.send('POST', path, { body })).body).toEqual(first)
    }))

  it('also under another grant, at each participant', async () => {
    const lock = service.lock()
    const answers = []
    for (const at of [1, 2, 3]) {
      const grant = await lock.granted({ at })
      answers.push(await lock.applied(grant, ops, 'once'))
      await lock.released(grant)
    }
    expect(answers[1]).toEqual(answers[0])
    expect(answers[2]).toEqual(answers[0])
    expect(await lock.value('n')).toBe(1)
  })

  it('also in transact, there and back', async () => {
    const lock = service.lock()
    const first = await lock.transacted(ops, { opId: 'once' })
    for (const at of [1, 2, 3]) {
      const { sequence, applied, results } = await lock.transacted(ops, { opId: 'once', at })
      expect({ sequence, applied, results }).toEqual({
        sequence: first.sequence,
        applied: true,
        results: first.results,
      })
    }
    const grant = await lock.granted()
    const { sequence, results } = await lock.applied(grant, ops, 'once')
    expect({ sequence, results }).toEqual({ sequence: first.sequence, results: first.results })
    await lock.released(grant)
    expect(await lock.value('n')).toBe(1)
  })

  it('also if its condition failed the first time and would hold now', () =>
    holding(async (lock, grant) => {
      const conditional = [{ put: 'a', value: 1, ifRevision: 99 }]
      const failed = await lock.applied(grant, conditional, 'once')
      expect(failed.applied).toBe(false)
      expect(await lock.applied(grant, conditional, 'once')).toEqual(failed)
    }))

  it('also after the grant is over: what was applied is told', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const first = await lock.applied(grant, ops, 'once')
    await lock.released(grant)
    const again = await lock.ops(grant, ops, 'once')
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first)
  })

  it('409 conflict with other ops, and nothing is applied', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    await lock.applied(grant, ops, 'once')
    const { status, body } = await lock.ops(grant, [{ increment: 'n', by: 5 }], 'once')
    expect([status, body.code, body.outcome]).toEqual([409, 'conflict', 'not-applied'])
    await lock.applied(grant, [{ get: 'n' }])
    await lock.released(grant)
    for (const at of [1, 2, 3]) {
      const answer = await lock.transact([{ increment: 'n', by: 5 }], { opId: 'once', at })
      expect([answer.status, answer.body.code, answer.body.outcome]).toEqual([409, 'conflict', 'not-applied'])
    }
    expect(await lock.value('n')).toBe(1)
  })
})

itKeepsEveryPromise(service)
