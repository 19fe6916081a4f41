/**
 * What a participant answers is what the client gets, whichever of the two ways it came (answer-response.ts).
 */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { AS_IT_IS, answerResponse } from '../../worker/answer-response.ts'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import { createHarness, GRANT_ID, problemOf } from './fake.ts'

const STATE = { key: 'a', value: { text: 'é \u2028 " \\' }, revision: 7, sequence: 9 }

const done = (status: 200 | 204, body: Json): ParticipantAnswer => ({ type: 'done', status, body })

describe('an answer', () => {
  it('that the router asked for as it is has its own status, and no envelope', async () => {
    const answer = answerResponse(done(200, STATE), true)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, AS_IT_IS])
    expect(await answer.json()).toEqual(STATE)
    const nothing = answerResponse(done(204, null), true)
    expect([nothing.status, await nothing.text()]).toEqual([204, ''])
  })

  it.each<[string, ParticipantAnswer, boolean]>([
    ['a router of before asked', done(200, STATE), false],
    ['it is a refusal', { type: 'problem', code: 'locked', detail: 'Held.' }, true],
    ['the router has to hand it over', { type: 'done', status: 200, body: {}, isUntaken: true }, true],
  ])('comes in an envelope if %s', async (_, answer, asItIs) => {
    const response = answerResponse(answer, asItIs)
    expect(response.headers.get('content-type')).not.toBe(AS_IT_IS)
    expect([response.status, await response.json()]).toEqual([200, answer])
  })
})

describe('the client gets the same', () => {
  it.each([
    ['as it is', (answer: ParticipantAnswer) => answerResponse(answer, true)],
    ['from a participant of before', (answer: ParticipantAnswer) => Response.json(answer)],
  ])('%s', async (_, response) => {
    const { send, participants } = createHarness()
    participants.onAll(call => response(call.type === 'release' ? done(204, null) : done(200, STATE)))
    const read = await send('GET', '/v1/locks/jobs/state/a')
    expect([read.status, read.headers.get('content-type')]).toEqual([200, 'application/json'])
    const tag = read.headers.get('etag')!
    expect([tag, read.headers.get('cache-control')]).toEqual([expect.stringMatching(/^W\/"7-/), 'no-cache'])
    expect(await read.json()).toEqual(STATE)
    const released = await send('DELETE', `/v1/locks/jobs/grants/${GRANT_ID}`)
    expect([released.status, await released.text(), released.headers.get('content-type')]).toEqual([
      204,
      '',
      null,
    ])
    const unchanged = await send('GET', '/v1/locks/jobs/state/a', undefined, {
      headers: { 'if-none-match': tag },
    })
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ''])
  })
})

it('an answer that breaks off is no answer', async () => {
  const { send, participants } = createHarness()
  participants.onAll(() => {
    const body = new ReadableStream<Uint8Array>({
      pull: controller => controller.error(new Error('broken')),
    })
    return new Response(body, { headers: { 'content-type': AS_IT_IS } })
  })
  const response = await send('POST', `/v1/locks/jobs/grants/${GRANT_ID}/ops`, {
    opId: 'one',
    ops: [{ get: 'a' }],
  })
  expect(response.status).toBe(503)
  expect(await problemOf(response)).toMatchObject({ code: 'no_quorum', outcome: 'unknown' })
})
