import { describe, expect, it } from 'vitest'
import { errorFromAnswer } from '../../client/error-factory.ts'
import * as client from '../../client/index.ts'
import { PROBLEM_CODES, PROBLEMS, problem } from '../../shared/api/problems.ts'
import type { Json } from '../../shared/json.ts'

const noHeaders = new Headers()

describe('errors', () => {
  it.each(PROBLEM_CODES)('%s becomes an error of its own class', code => {
    const body = problem(code, 'Because.', { outcome: 'not-applied', more: { holder: { fence: 7 } } })
    const error = errorFromAnswer(body.status, noHeaders, body as unknown as Json)
    expect(error).toBeInstanceOf(client.BatonError)
    expect(error.constructor).not.toBe(client.BatonError)
    expect(error.name).toBe(error.constructor.name)
    expect(error.name in client).toBe(true)
    const { status, retryable } = PROBLEMS[code]
    expect(error).toMatchObject({ code, status, retryable, detail: 'Because.', outcome: 'not-applied' })
    expect(error.message).toBe(`${code}: Because.`)
  })

  it('the three ways in which a grant is over have a class in common', () => {
    for (const Class of [client.EjectedError, client.ExpiredError, client.ReleasedError]) {
      expect(Class.prototype).toBeInstanceOf(client.GrantOverError)
    }
  })

  it('Retry-After and the id of the request are read from the headers', () => {
    const headers = new Headers({ 'retry-after': '3', 'x-request-id': 'abc' })
    const error = errorFromAnswer(503, headers, problem('no_quorum', 'No.') as unknown as Json)
    expect(error).toMatchObject({ retryAfterMs: 3_000, requestId: 'abc' })
    const date = new Headers({ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' })
    expect(errorFromAnswer(503, date, null).retryAfterMs).toBeUndefined()
  })

  it('a code that came after this client was written is an error all the same', () => {
    const body = { code: 'brand_new', status: 418, title: 'New', retryable: true, x: 1 }
    expect(errorFromAnswer(418, noHeaders, body)).toMatchObject({
      name: 'BatonError',
      code: 'brand_new',
      retryable: true,
      detail: 'New',
      more: { x: 1 },
    })
    expect(errorFromAnswer(500, noHeaders, body)).toBeInstanceOf(client.ServerError)
  })

  it.each([
    [404, 'unexpected', false],
    [200, 'unexpected', false],
    [429, 'too_many', true],
    [502, 'unavailable', true],
  ])('status %i from something else is %s', (status, code, retryable) => {
    expect(errorFromAnswer(status, noHeaders, undefined)).toMatchObject({ code, status, retryable })
  })
})
