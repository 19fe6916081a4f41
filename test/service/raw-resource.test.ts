/** A custom resource that throws, or answers in an unknown form, breaks nothing and is answered properly. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { emptyReplica, invoke } from '../../shared/resource/replica.ts'
import { outcomeBody } from '../../worker/participant/calls/outcome.ts'
import { useService } from './harness.ts'
import { openSession } from './session-socket.ts'

const service = useService({}, './test-worker.ts')
let locks = 0
const newLock = () => `raw-${++locks}`

/** Not the tests' own helper, which wants the results of the built-in resource. */
async function transact(lock: string, op: Json, opId: string, at = 1) {
  const response = await fetch(`${service.url}/v1/locks/${lock}/transact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ opId, ops: [op], at }),
  })
  const body = (await response.json()) as { readonly [member: string]: Json }
  const { applied, results, code, outcome } = body
  return { status: response.status, ...(code ? { code, outcome } : { applied, results }) }
}

describe('an operation of a resource of one’s own', () => {
  it('that throws: applied false, with an error, and the same for whoever asks again', async () => {
    const lock = newLock()
    const failed = { status: 200, applied: false, results: [{ error: 'operation_failed' }] }
    expect(await transact(lock, { throw: 'at participant 1' }, 'a')).toEqual(failed)
    expect(await transact(lock, { throw: 'at participant 1' }, 'a', 2)).toEqual(failed)
    expect(await transact(lock, { count: 2 }, 'b', 3)).toEqual({ status: 200, applied: true, results: [2] })
  })

  it.each<[string, Json, boolean, Json]>([
    ['a conflict of its own', { error: 'conflict' }, false, [{ error: 'conflict' }]],
    ['an error with more', { error: 'full', size: 3 }, false, [{ error: 'full', size: 3 }]],
    ['text', 'done', true, ['done']],
    ['nothing', null, true, [null]],
    ['a list', [1, 2], true, [[1, 2]]],
    ['an object', { a: 1, applied: 'yes' }, true, [{ a: 1, applied: 'yes' }]],
    ['the form of a batch', { applied: false, results: [7] }, false, [7]],
  ])('that answers %s', async (_, answer, applied, results) => {
    const lock = newLock()
    expect(await transact(lock, { answer }, 'a')).toEqual({ status: 200, applied, results })
    expect(await transact(lock, { answer }, 'a', 2)).toEqual({ status: 200, applied, results })
    // An opId for another operation is a conflict all the same.
    expect(await transact(lock, { count: 1 }, 'a', 2)).toEqual({
      status: 409,
      code: 'conflict',
      outcome: 'not-applied',
    })
  })

  it('in a session', async () => {
    const session = await openSession(`${service.url}/v1/locks/${newLock()}/session`)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.send({ type: 'issue', opId: 'a', ops: [{ throw: 'up' } as never] })
    expect(await session.nextOf('outcome')).toMatchObject({
      applied: false,
      results: [{ error: 'operation_failed' }],
    })
    session.send({ type: 'issue', opId: 'b', ops: [{ answer: { error: 'conflict' } } as never] })
    expect(await session.nextOf('outcome')).toMatchObject({
      applied: false,
      results: [{ error: 'conflict' }],
    })
    session.close()
  })
})

describe('an opId that another operation got first, while this one was on its way', () => {
  it('is told apart from a result that looks like it', () => {
    const replica = emptyReplica(keyValue)
    invoke(keyValue, replica, 10, { sequence: 1, opId: 'a', operation: [{ increment: 'n' }] })
    const { result } = invoke(keyValue, replica, 10, { sequence: 2, opId: 'a', operation: [{ get: 'n' }] })
    expect(result).toEqual({ error: 'conflict' })
    expect(outcomeBody(result)).toBeNull()
    expect(outcomeBody({ error: 'conflict' })).toEqual({ applied: false, results: [{ error: 'conflict' }] })
  })
})
