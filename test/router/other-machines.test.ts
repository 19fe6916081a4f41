/** Participants that a router has not heard of: their numbers, and where they are. */
import { expect, it } from 'vitest'
import { formatGrantId } from '../../shared/api/ids.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { createHarness, DEFAULTS, done, NEAR_2, place, statusOf, USER, usualAnswer } from './fake.ts'

const PATH = '/v1/locks/jobs'
const address = (id: number, where: string) => ({ ...place(id, where), address: `${where}@` })

it('a participant that has missed a change does not end the grants of a newcomer', async () => {
  const { participants, send } = createHarness()
  const now = {
    ...DEFAULTS,
    number: 1_025,
    participants: [place(1, 'weur'), place(3, 'apac'), address(4, 'oc')],
  }
  const member = (id: number) => (call: ParticipantCall) =>
    call.type === 'status' ? done(200, statusOf({ configuration: now })) : usualAnswer(call, id)
  // 2 was replaced by 4 because the others do not reach it. This router does, and it is the nearest.
  participants.on(2, call => usualAnswer(call, 2))
  for (const id of [1, 3, 4]) participants.on(id, member(id))
  const grant = formatGrantId(4, 1_026, USER)
  const answer = await send('POST', `${PATH}/grants/${grant}/keepalive`, {}, { cf: NEAR_2 })
  expect(answer.status).toBe(200)
})

it('a grant from before the present members is over, though not all of them say so', async () => {
  const { participants, send } = createHarness()
  const configuration = { ...DEFAULTS, number: 4_097 }
  participants.onAll(call =>
    call.type === 'status' ? done(200, statusOf({ configuration })) : usualAnswer(call, 1),
  )
  participants.on(3, () => {
    throw new Error('Network connection lost.')
  })
  const grant = formatGrantId(4, 1_026, USER)
  const answer = await send('POST', `${PATH}/grants/${grant}/keepalive`, {})
  expect(answer.status).toBe(410)
})

it('a router that knew the lock that was deleted finds the grants of the next one', async () => {
  const { participants, send } = createHarness()
  const before = { ...DEFAULTS, number: 1_025, participants: [address(4, 'enam')] }
  const after = { ...DEFAULTS, number: 9_217, generation: 2, participants: [address(4, 'oc')] }
  const born = { ...DEFAULTS, number: 8_193, generation: 2 }
  let isNext = false
  participants.onAll(call =>
    call.type === 'status' || call.type === 'acquire' || call.type === 'keepalive'
      ? { type: 'elsewhere', configuration: isNext ? after : before }
      : usualAnswer(call, 1),
  )
  participants.on(4, (call, request) => {
    void request
    return usualAnswer(call, 4)
  })
  expect((await send('POST', `${PATH}/acquire`, {})).status).toBe(200)
  // Another router deletes it. The next one of its name has moved to oc, as participant 4 again.
  isNext = true
  const fetchAt = participants.fetch.bind(participants)
  participants.fetch = async (lock, where, request) => {
    if (where.id !== 4) return fetchAt(lock, where, request)
    // The machine of the lock that was deleted has heard of the end, and of what the next lock was born with:
    // worker/participant/participant.ts asMember -> 'elsewhere' (drive.ts settleWish, presentHere).
    const isOld = where.address === 'enam@'
    participants.on(4, call => (isOld ? { type: 'elsewhere', configuration: born } : usualAnswer(call, 4)))
    return fetchAt(lock, where, request)
  }
  const grant = formatGrantId(4, 9_218, USER)
  const answer = await send('POST', `${PATH}/grants/${grant}/keepalive`, {})
  expect(answer.status).toBe(200)
})

it('finds them also if the machine of the lock that was deleted is gone', async () => {
  const { participants, send } = createHarness()
  const before = { ...DEFAULTS, number: 1_025, participants: [address(4, 'enam')] }
  const after = { ...DEFAULTS, number: 9_217, generation: 2, participants: [address(4, 'oc')] }
  let isNext = false
  participants.onAll(() => ({ type: 'elsewhere', configuration: isNext ? after : before }))
  participants.on(4, call => usualAnswer(call, 4))
  expect((await send('POST', `${PATH}/acquire`, {})).status).toBe(200)
  isNext = true
  const fetchAt = participants.fetch.bind(participants)
  participants.fetch = async (lock, where, request) => {
    if (where.id === 4 && where.address === 'enam@') throw new Error('Network connection lost.')
    return fetchAt(lock, where, request)
  }
  const grant = formatGrantId(4, 9_218, USER)
  const statuses: number[] = []
  for (let attempt = 0; attempt < 3; attempt++)
    statuses.push((await send('POST', `${PATH}/grants/${grant}/keepalive`, {})).status)
  expect(statuses.at(-1)).toBe(200)
})
