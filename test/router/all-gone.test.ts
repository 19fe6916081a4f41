/** Everybody whom a router knows of a lock is gone: those that every lock begins with are asked. */
import { describe, expect, it } from 'vitest'
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
const others = [4, 5, 6]
const before = { ...DEFAULTS, number: 905, participants: others.map(id => place(id, null)) }

async function knowing() {
  const made = createHarness()
  const { participants, send } = made
  participants.onAll(() => ({ type: 'elsewhere', configuration: before }))
  for (const id of others) participants.on(id, call => usualAnswer(call, id))
  expect((await send('POST', `${PATH}/acquire`, {})).status).toBe(200)
  participants.asked.length = 0
  return made
}
const lost = () => {
  throw new Error('Network connection lost.')
}

describe('all that the router knows of the lock are gone for good', () => {
  it('deleted: the status says so, as a read does', async () => {
    const { participants, send } = await knowing()
    for (const id of others) participants.on(id, lost)
    for (const id of [1, 2, 3]) participants.on(id, () => refuse('no_such_lock', { more: { generation: 2 } }))
    expect((await problemOf(await send('GET', `${PATH}/state/n`))).code).toBe('no_such_lock')
    const status = await send('GET', PATH)
    expect(status.status).toBe(404)
  })

  it('made again: the status is that of the new one', async () => {
    const { participants, send } = await knowing()
    const after = { ...DEFAULTS, number: 4_097, generation: 2 }
    for (const id of others) participants.on(id, lost)
    for (const id of [1, 2, 3])
      participants.on(id, call =>
        call.type === 'status'
          ? done(200, statusOf({ configuration: after, generation: 2 }))
          : usualAnswer(call, id),
      )
    const body = (await (await send('GET', PATH)).json()) as {
      participants: { id: number; reachable: boolean }[]
    }
    expect(body.participants.map(({ id, reachable }) => [id, reachable])).toEqual([
      [1, true],
      [2, true],
      [3, true],
    ])
  })

  it('a delete names the generation that it means, whoever is asked', async () => {
    const { participants, send } = await knowing()
    let generation = 1
    // Too slow for a status; 4 ends the lock, its answer is lost, and somebody makes the next one.
    for (const id of others)
      participants.on(id, (call: ParticipantCall) => {
        if (call.type === 'status') return never()
        if (call.type === 'delete') generation = 2
        return lost()
      })
    const ended: (number | null)[] = []
    for (const id of [1, 2, 3])
      participants.on(id, (call: ParticipantCall) => {
        if (call.type === 'status') return done(200, statusOf({ generation }))
        // As in worker/participant/calls/delete.ts: `call.generation ?? generation`.
        if (call.type === 'delete' && (call.generation ?? generation) === generation) ended.push(generation)
        return usualAnswer(call, id)
      })
    await send('DELETE', PATH)
    expect(ended).not.toContain(2)
  })
})
