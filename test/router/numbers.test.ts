/**
 * Numbers are checked at every door: what no double can hold is refused, with its path, and there is no -0.
 */
import { describe, expect, it } from 'vitest'
import { readJson } from '../../shared/api/read-json.ts'
import { parseSessionMessage } from '../../shared/api/session.ts'
import { createHarness, GRANT_ID, problemOf } from './fake.ts'

const HUGE = ['1e400', '-1e400', '1E+309', `1${'0'.repeat(309)}`, '2e308']
const operation = (value: string) => `{"opId":"o","ops":[{"get":"b"},{"put":"a","value":{"x":[1,${value}]}}]}`

describe.each(HUGE)('%s', number => {
  it.each(['/v1/locks/jobs/transact', `/v1/locks/jobs/grants/${GRANT_ID}/ops`])(
    'is refused in %s with its path',
    async path => {
      const { send, participants } = createHarness()
      const response = await send('POST', path, operation(number))
      expect(response.status).toBe(400)
      expect((await problemOf(response)).errors).toMatchObject([{ in: 'body', path: 'ops.1.value.x.1' }])
      expect(participants.asked).toEqual([])
    },
  )

  it('is refused where a whole number is meant', async () => {
    const { send } = createHarness()
    for (const body of [`{"waitMs":${number}}`, `{"at":${number}}`, `{"ttlMs":${number}}`])
      expect((await send('POST', '/v1/locks/jobs/acquire', body)).status).toBe(400)
    expect((await send('POST', '/v1/locks/jobs/eject', `{"fence":${number}}`)).status).toBe(400)
    expect((await send('PUT', '/v1/locks/jobs', `{"ttlMs":${number}}`)).status).toBe(400)
  })

  it('is refused in a message of a session', () => {
    const text = `{"type":"issue",${operation(number).slice(1)}`
    expect(parseSessionMessage(text)).toMatchObject({
      ok: false,
      code: 'bad_request',
      detail: expect.stringContaining('ops.1.value.x.1'),
    })
    expect(parseSessionMessage(text, 'account')).toMatchObject({ ok: false })
  })
})

describe('a whole number', () => {
  it.each(['9007199254740993', '1.5', '-1', '"7"', 'null', '1e16'])('is not %s', async number => {
    const { send } = createHarness()
    expect((await send('POST', '/v1/locks/jobs/eject', `{"fence":${number}}`)).status).toBe(400)
    const op = `{"opId":"o","ops":[{"put":"a","value":1,"ifRevision":${number}}]}`
    expect((await send('POST', '/v1/locks/jobs/transact', op)).status).toBe(400)
  })

  it.each(['-0', '1e3', '+1', '0x10', '1.0', '9007199254740993', 'NaN', 'Infinity', ' 1'])(
    'is not %s in a query',
    async number => {
      const { send } = createHarness()
      const query = encodeURIComponent(number)
      expect((await send('GET', `/v1/locks/jobs/state?limit=${query}`)).status).toBe(400)
      expect((await send('GET', `/v1/locks/jobs/watch?since=${query}`)).status).toBe(400)
    },
  )
})

it.each(['-0', '-0.0', '-0e5', '-1e-400'])('%s is 0', async number => {
  const { send, participants } = createHarness()
  expect((await send('POST', '/v1/locks/jobs/transact', operation(number))).status).toBe(200)
  const { ops } = participants.asked[0]!.call as unknown as { ops: [unknown, { value: { x: number[] } }] }
  expect(ops[1].value.x).toEqual([1, 0])
  const session = parseSessionMessage(`{"type":"issue",${operation(number).slice(1)}`)
  // Not as JSON, which has no -0.
  expect(session).toEqual({ ok: true, message: { type: 'issue', opId: 'o', ops } })
  expect(readJson(number)).toEqual({ ok: true, value: 0 })
})

describe('what is read', () => {
  it.each(['1e300', '5e-324', '0.1', '1.7976931348623157e308', '-1.5', '"1e400"', '{"-0":"-0"}', '[]'])(
    'is %s as it is',
    text => {
      expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
    },
  )

  it('may be nested as deep as it likes: it is refused later, and not by a stack that overflows', () => {
    const deep = `${'['.repeat(100_000)}1e400${']'.repeat(100_000)}`
    expect(readJson(deep)).toMatchObject({ ok: false })
  })
})
