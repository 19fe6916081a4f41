import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { parseSessionMessage } from '../../shared/api/session.ts'

describe('a message of a session', () => {
  it.each([
    { type: 'try' },
    { type: 'try', waitMs: 60_000, ttlMs: 5_000, confirm: true },
    { type: 'issue', opId: 'a', ops: [{ increment: 'n', by: 2 }] },
    { type: 'exit' },
    { type: 'transact', opId: 'a', ops: [{ increment: 'n' }], waitMs: 0 },
    { type: 'get', key: 'a/b', consistency: 'local' },
  ])('%j', message => {
    expect(parseSessionMessage(JSON.stringify(message))).toEqual({ ok: true, message })
  })

  it.each([
    ['nonsense', 'JSON'],
    ['null', 'The message must be an object.'],
    ['[]', 'The message must be an object.'],
    ['1e400', 'The message is a number'],
    ['{}', 'type must be one of "try", "issue", "exit", "transact", "get", "probe".'],
    ['{"type":"crit"}', 'type must be one of "try", "issue", "exit", "transact", "get", "probe".'],
    ['{"type":"exit","now":true}', 'now'],
    ['{"type":"try","waitMs":-1}', 'waitMs'],
    ['{"type":"try","ttlMs":1}', 'ttlMs'],
    ['{"type":"issue","opId":"a"}', 'ops'],
    ['{"type":"issue","opId":"a","ops":[]}', 'ops'],
    ['{"type":"issue","opId":"a","ops":[{"put":"a"}]}', 'ops.0.value'],
  ])('%s is refused because of %s', (text, where) => {
    expect(parseSessionMessage(text)).toEqual({
      ok: false,
      code: 'bad_request',
      detail: expect.stringContaining(where),
    })
  })

  it('may leave out what a call may leave out', () => {
    const read = (message: object) => parseSessionMessage(JSON.stringify(message))
    const ops = [{ increment: 'n' }]
    expect(read({ type: 'transact', opId: 'a', ops })).toMatchObject({
      ok: true,
      message: { waitMs: API_LIMITS.waitMs.default },
    })
    expect(read({ type: 'get', key: 'a' })).toMatchObject({
      ok: true,
      message: { consistency: 'linearizable' },
    })
  })

  it.each([
    ['{"type":"transact","opId":"a"}', { opId: 'a' }],
    ['{"type":"transact","opId":"a","ops":[{"get":"a"}],"waitMs":25001}', { opId: 'a' }],
    ['{"type":"transact","opId":7,"ops":[{"get":"a"}]}', undefined],
    ['{"type":"transact","opId":"a","ops":[{"put":"a","value":1e400}]}', { opId: 'a' }],
    ['{"type":"get","key":"","consistency":"local"}', { key: '', consistency: 'local' }],
    ['{"type":"get","key":"a","at":1}', { key: 'a', consistency: 'linearizable' }],
    ['{"type":"get"}', undefined],
    ['{"type":"get","key":1}', undefined],
  ])('%s is refused, and the refusal says of what', (text, about) => {
    const parsed = parseSessionMessage(text)
    expect(parsed).toMatchObject({ ok: false, code: 'bad_request' })
    expect('about' in parsed ? parsed.about : undefined).toEqual(about)
  })

  it('is text', () => {
    expect(parseSessionMessage(new ArrayBuffer(2))).toMatchObject({ ok: false, code: 'bad_request' })
  })

  it('has the limits of every operation', () => {
    const issue = (ops: unknown) => parseSessionMessage(JSON.stringify({ type: 'issue', opId: 'a', ops }))
    expect(issue([{ get: 'k'.repeat(API_LIMITS.keyLength + 1) }])).toMatchObject({
      ok: false,
      code: 'too_large',
    })
    expect(issue(Array.from({ length: 1_001 }, () => 1))).toMatchObject({ ok: false, code: 'too_large' })
    expect(parseSessionMessage(' '.repeat(API_LIMITS.bodyBytes + 1))).toMatchObject({
      ok: false,
      code: 'too_large',
    })
  })

  it('is counted in characters, and not in bytes', () => {
    const message = { type: 'try', owner: 'é' }
    const padded = JSON.stringify(message).padStart(API_LIMITS.bodyBytes)
    expect(Buffer.byteLength(padded)).toBeGreaterThan(API_LIMITS.bodyBytes)
    expect(parseSessionMessage(padded)).toEqual({ ok: true, message })
  })

  it('has the ops of the resource that the lock guards', () => {
    const text = '{"type":"issue","opId":"a","ops":["up"]}'
    expect(parseSessionMessage(text, 'counter')).toMatchObject({ ok: true, message: { ops: ['up'] } })
    expect(parseSessionMessage(text)).toMatchObject({ ok: false })
  })
})
