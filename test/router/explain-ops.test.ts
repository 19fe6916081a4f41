/** An unknown op is told from a malformed one, and both from what is right; over HTTP and in a session. */
import { describe, expect, it } from 'vitest'
import { explainOps } from '../../shared/api/explain-ops.ts'
import { OP_NAMES } from '../../shared/api/ops.ts'
import { parseSessionMessage } from '../../shared/api/session.ts'
import type { Json } from '../../shared/json.ts'
import { createHarness, problemOf } from './fake.ts'

async function errorsOf(...ops: Json[]) {
  const { send } = createHarness()
  const response = await send('POST', '/v1/locks/jobs/transact', { opId: 'o', ops })
  expect(response.status).toBe(400)
  const { code, detail, errors } = await problemOf(response)
  expect(code).toBe('bad_request')
  return { detail: String(detail), errors }
}

describe('an unknown op', () => {
  it.each([[{ incr: 'n' }], [{ set: 'a', value: 1 }], [{}], [{ value: 1 }]])(
    '%j is called that, and told what there is',
    async op => {
      const { detail, errors } = await errorsOf({ get: 'a' }, op)
      expect(errors).toHaveLength(1)
      expect(errors[0]).toMatchObject({ in: 'body', path: 'ops.1' })
      expect(detail).toContain('is an unknown op; the ops are ')
      for (const name of OP_NAMES) expect(detail).toContain(`{"${name}": key`)
    },
  )

  it.each([['get a'], [null], [7], [['get', 'a']]])('%j is no object', async op => {
    const { detail } = await errorsOf(op)
    expect(detail).toContain('ops.0 must be an object, one of {"put": key')
  })
})

describe('a malformed op', () => {
  it.each([
    [
      { put: 5, value: 1 },
      'ops.0.put',
      'put is written {"put": key, "value": any JSON, "ifRevision"?: number}',
    ],
    [{ put: 'a', valu: 1 }, 'ops.0.valu', 'is not a known field; put is written'],
    [{ increment: 'n', by: 'one' }, 'ops.0.by', 'increment is written {"increment": key, "by"?: number}'],
    [{ delete: '' }, 'ops.0.delete', 'delete is written'],
    [{ get: 'a', at: 1 }, 'ops.0.at', 'is not a known field; get is written {"get": key}'],
    [{ get: 'a', put: 'b' }, 'ops.0', 'does more than one thing: put and get'],
  ] as const)('%j is told what is wrong with it, and how it is written', async (op, path, said) => {
    const { errors } = await errorsOf(op)
    const error = errors.find(one => one.path === path)
    expect(error?.message).toContain(said)
    for (const { message } of errors) expect(message).not.toContain('unknown op')
  })
})

it('what else is wrong is said as well, and right ops are not spoken of', async () => {
  const { send } = createHarness()
  const ops = [{ get: 'a' }, { gte: 'a' }]
  const response = await send('POST', '/v1/locks/jobs/transact', { opId: 'o', ops, waitms: 1 })
  expect((await problemOf(response)).errors.map(({ path }) => path)).toEqual(['ops.1', 'waitms'])
})

it('a session says the same', () => {
  const parsed = parseSessionMessage(JSON.stringify({ type: 'issue', opId: 'o', ops: [{ incr: 'n' }] }))
  expect(parsed).toMatchObject({ ok: false, code: 'bad_request' })
  expect(JSON.stringify(parsed)).toContain('an unknown op; the ops are')
})

it('errors that are not of ops stay as they are', () => {
  const errors = [{ in: 'body', path: 'opId', message: 'is missing' }] as const
  expect(explainOps(errors, [{ nonsense: 1 }])).toBe(errors)
})
