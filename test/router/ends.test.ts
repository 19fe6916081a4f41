/** `DELETE /v1/locks/{lock}`: which lock is meant, whoever is asked. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import {
  createHarness,
  DEFAULTS,
  done,
  never,
  place,
  problemOf,
  refuse,
  statusOf,
  usualAnswer,
} from './fake.ts'

const PATH = '/v1/locks/jobs'

type Delete = Extract<ParticipantCall, { type: 'delete' }>

function harness() {
  const made = createHarness()
  const deletes = (): Delete[] =>
    made.participants.asked.flatMap(({ call }) => (call.type === 'delete' ? [call] : []))
  return { ...made, deletes }
}

const inGeneration = (generation: number) => (call: ParticipantCall) =>
  call.type === 'status' ? done(200, statusOf({ generation })) : usualAnswer(call, 1)

describe('which generation is meant', () => {
  it('the latest one that any participant knows of', async () => {
    const { send, participants, deletes } = harness()
    participants.onAll(inGeneration(3)).on(1, inGeneration(2))
    expect((await send('DELETE', PATH)).status).toBe(204)
    expect(deletes()).toMatchObject([{ generation: 3, force: false }])
  })

  it('the one that the caller names, and then nobody is asked for it', async () => {
    const { send, participants, deletes } = harness()
    expect((await send('DELETE', `${PATH}?generation=7&force=true`)).status).toBe(204)
    expect(deletes()).toMatchObject([{ generation: 7, force: true }])
    expect(participants.asked.map(({ call }) => call.type)).toEqual(['delete'])
  })

  it('the same one where the second participant is asked because the first is silent', async () => {
    const { send, participants, deletes } = harness()
    let generation = 4
    participants
      .onAll(call => inGeneration(generation)(call))
      .on(1, call => {
        if (call.type !== 'delete') return inGeneration(generation)(call)
        // It is done, its answer is lost, and somebody creates the next lock.
        generation = 5
        throw new Error('Network connection lost.')
      })
    expect((await send('DELETE', PATH)).status).toBe(204)
    expect(deletes().length).toBeGreaterThan(1)
    expect(new Set(deletes().map(call => call.generation))).toEqual(new Set([4]))
  })
})

describe('a generation that is still to come', () => {
  const unknown = (call: ParticipantCall) =>
    call.type === 'delete' ? refuse('no_quorum', { retryAfterSeconds: 1 }) : inGeneration(2)(call)

  it('409 with the present one, if all participants say the same', async () => {
    const { send, participants } = harness()
    participants.onAll(unknown)
    expect(await problemOf(await send('DELETE', `${PATH}?generation=9`))).toMatchObject({
      status: 409,
      code: 'conflict',
      retryable: false,
      generation: 2,
      detail: expect.stringContaining('has generation 2; there is none with 9 yet'),
    })
  })

  it.each<[string, Parameters<ReturnType<typeof harness>['participants']['on']>[1]]>([
    ['one of them does not answer', never],
    [
      'one of them knows a later lock',
      call => (call.type === 'delete' ? unknown(call) : inGeneration(9)(call)),
    ],
  ])('503 if %s', async (_, third) => {
    const { send, participants } = harness()
    participants.onAll(unknown).on(3, third)
    expect((await problemOf(await send('DELETE', `${PATH}?generation=9`))).code).toBe('no_quorum')
  })

  it('503 if it is the present one, and a majority does not answer', async () => {
    const { send, participants } = harness()
    participants.onAll(unknown)
    expect((await problemOf(await send('DELETE', `${PATH}?generation=2`))).code).toBe('no_quorum')
  })
})

it('nothing is deleted if nobody can say which lock there is', async () => {
  const { send, participants, deletes } = harness()
  participants.onAll(call => {
    if (call.type === 'status') throw new Error('Network connection lost.')
    return usualAnswer(call, 1)
  })
  expect((await problemOf(await send('DELETE', PATH))).code).toBe('no_quorum')
  expect(deletes()).toEqual([])
})

describe('what is passed on', () => {
  it('404 if there is no such lock: nobody is asked to delete it', async () => {
    const { send, participants, deletes } = harness()
    participants.onAll(() => refuse('no_such_lock'))
    expect((await problemOf(await send('DELETE', PATH))).code).toBe('no_such_lock')
    expect(deletes()).toEqual([])
  })

  it('404 although one that was away still has a lock that was deleted', async () => {
    const { send, participants, deletes } = harness()
    const absent = () => refuse('no_such_lock', { more: { generation: 2 } })
    participants.onAll(absent).on(3, inGeneration(1))
    expect((await problemOf(await send('DELETE', PATH))).code).toBe('no_such_lock')
    expect((await problemOf(await send('GET', PATH))).code).toBe('no_such_lock')
    expect(deletes()).toEqual([])
  })

  it('409 with the holder', async () => {
    const { send, participants } = harness()
    const holder: Json = { participant: 2, fence: 9, expiresAt: '2026-11-16T12:00:00.000Z' }
    participants.onAll(call =>
      call.type === 'delete' ? refuse('locked', { more: { holder } }) : usualAnswer(call, 1),
    )
    expect(await problemOf(await send('DELETE', PATH))).toMatchObject({ code: 'locked', holder })
  })

  it('what the lock was made of is forgotten', async () => {
    const { send, participants } = harness()
    const one = { ...DEFAULTS, participants: DEFAULTS.participants.slice(0, 1) }
    participants.onAll(call =>
      call.type === 'status' ? done(200, statusOf({ configuration: one })) : usualAnswer(call, 1),
    )
    await send('GET', PATH)
    expect((await send('DELETE', PATH)).status).toBe(204)
    participants.asked.length = 0
    participants.onAll(() => refuse('no_such_lock'))
    await send('GET', PATH)
    expect(participants.asked.map(({ participant }) => participant).sort()).toEqual([1, 2, 3])
  })
})

describe('a lock that another router has deleted', () => {
  const places = (...ids: number[]) => ids.map(id => place(id, null))
  const before = { ...DEFAULTS, number: 905, participants: places(4, 5, 6) }
  const after = { ...DEFAULTS, number: 4, generation: 2 }
  const others = [4, 5, 6]

  /** It has found the lock where its members had gone; then there is another one of its name. */
  async function knowing() {
    const made = harness()
    const { participants, send } = made
    participants.onAll(() => ({ type: 'elsewhere', configuration: before }))
    for (const id of others) participants.on(id, call => usualAnswer(call, id))
    expect((await send('POST', `${PATH}/acquire`, {})).status).toBe(200)
    for (const id of [1, 2, 3]) participants.on(id, call => usualAnswer(call, id))
    for (const id of others) participants.on(id, () => ({ type: 'elsewhere', configuration: after }))
    participants.asked.length = 0
    return made
  }

  it('is found again, though the numbers of its configurations begin anew', async () => {
    const { participants, send } = await knowing()
    expect((await send('POST', `${PATH}/acquire`, {})).status).toBe(200)
    participants.asked.length = 0
    expect((await send('POST', `${PATH}/acquire`, {})).status).toBe(200)
    expect(participants.order('acquire')).toEqual([1])
  })

  it('is found though all that were known of the one before are gone', async () => {
    const { participants, send } = await knowing()
    for (const id of others)
      participants.on(id, () => {
        throw new Error('Network connection lost.')
      })
    expect((await send('POST', `${PATH}/acquire`, {})).status).toBe(200)
    expect(participants.order('acquire')).toEqual([...others, 1])
  })

  it('does not come back with an answer that was on its way meanwhile', async () => {
    const { participants, send } = await knowing()
    await send('POST', `${PATH}/acquire`, {})
    participants.on(2, () => ({ type: 'elsewhere', configuration: before }))
    await send('POST', `${PATH}/acquire`, { at: 2 })
    participants.asked.length = 0
    await send('POST', `${PATH}/acquire`, {})
    expect(participants.order('acquire')).toEqual([1])
  })
})
