/** A lock that nobody has used or configured: what the router makes of it, call by call. */
import { describe, expect, it } from 'vitest'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { createHarness, done, GRANT_ID, never, problemOf, refuse, statusOf, TICKET_ID } from './fake.ts'

const absent = (): ParticipantAnswer => refuse('no_such_lock')
const OPERATION = { opId: 'one', ops: [{ increment: 'n' }] }
const FAR_TICKET = TICKET_ID.replace(/^1/, '9')
const FAR_GRANT = GRANT_ID.replace(/^1/, '9')

describe('a lock that does not exist', () => {
  it.each<[string, string, unknown?]>([
    ['GET', '/v1/locks/none'],
    ['GET', '/v1/locks/none/state'],
    ['GET', '/v1/locks/none/state/key'],
    ['GET', '/v1/locks/none/state/key?at=2'],
    ['GET', '/v1/locks/none/state/key?at=9'],
    ['GET', '/v1/locks/none/history'],
    ['GET', '/v1/locks/none/watch'],
    ['GET', '/v1/locks/none/watch?at=3'],
    ['GET', '/metrics?lock=none'],
    ['POST', '/v1/locks/none/eject', {}],
  ])('%s %s: 404 no_such_lock', async (method, path, body) => {
    const { send, participants } = createHarness()
    participants.onAll(absent)
    const response = await send(method, path, body as object | undefined)
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ status: 404, code: 'no_such_lock', retryable: false })
    // Or it was deleted.
    expect(problem.detail).not.toContain('Nobody has')
  })

  it.each([TICKET_ID, FAR_TICKET])('has no tickets: %s', async id => {
    const { send, participants } = createHarness()
    participants.onAll(absent)
    for (const method of ['GET', 'DELETE']) {
      const response = await send(method, `/v1/locks/none/tickets/${id}`)
      expect(await problemOf(response)).toMatchObject({ status: 404, code: 'no_such_ticket' })
    }
  })

  it.each([GRANT_ID, FAR_GRANT])('has no grants: whatever %s was, it is over', async id => {
    const { send, participants } = createHarness()
    participants.onAll(absent)
    const ops = await problemOf(await send('POST', `/v1/locks/none/grants/${id}/ops`, OPERATION))
    // An operation may have been applied before the lock was gone.
    expect(ops).toMatchObject({ status: 410, code: 'ejected', outcome: 'unknown' })
    const kept = await problemOf(await send('POST', `/v1/locks/none/grants/${id}/keepalive`, {}))
    expect(kept).toMatchObject({ status: 410, code: 'ejected' })
    const released = await problemOf(await send('DELETE', `/v1/locks/none/grants/${id}`))
    expect(released).toMatchObject({ status: 410, code: 'ejected' })
  })

  it.each(['acquire', 'transact', 'session'])(
    '%s would create it, with the participants of the defaults',
    async call => {
      const { send, participants } = createHarness()
      participants.onAll(absent)
      const at9 = call === 'session' ? '?at=9' : ''
      const headers = { headers: { upgrade: 'websocket' } }
      const response =
        call === 'session'
          ? await send('GET', `/v1/locks/none/session${at9}`, undefined, headers)
          : await send('POST', `/v1/locks/none/${call}`, { ...(call === 'transact' && OPERATION), at: 9 })
      expect(await problemOf(response)).toMatchObject({ status: 400, code: 'bad_request' })
    },
  )

  it('exists as soon as one participant says so', async () => {
    const { send, participants } = createHarness()
    participants.onAll(absent).on(2, () => done(200, statusOf()))
    for (const path of ['/v1/locks/none', '/v1/locks/none/history', '/metrics?lock=none'])
      expect((await send('GET', path)).status, path).toBe(200)
  })

  it('is not said to be absent by one that does not know: the next one is asked', async () => {
    const { send, participants } = createHarness()
    participants.onAll(() => refuse('no_quorum')).on(3, absent)
    const { code } = await problemOf(await send('GET', '/v1/locks/none/state/key'))
    expect([code, participants.order('get')]).toEqual(['no_such_lock', [1, 2, 3]])
    participants.onAll(never).on(2, absent)
    const status = await problemOf(await send('GET', '/v1/locks/none'))
    expect(status.code).toBe('no_such_lock')
  })

  it('one scrape asks for several: the one that does not exist is named', async () => {
    const { send, participants } = createHarness()
    const asked: ParticipantCall[] = []
    participants.onAll(call => {
      asked.push(call)
      return asked.length <= 3 ? done(200, statusOf()) : absent()
    })
    const problem = await problemOf(await send('GET', '/metrics?lock=one,none'))
    expect(problem).toMatchObject({ code: 'no_such_lock', detail: expect.stringContaining('none') })
  })
})
