/** An import that has failed ends what it has begun, and does no harm to anybody who was faster. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { MemoryPlatform } from './memory-platform.ts'

const CLIENT = 'c'.repeat(22)
const IMPORT = 'i'.repeat(22)

let platform: MemoryPlatform

type Acquire = Extract<ParticipantCall, { type: 'acquire' }>

const acquire = (at: number, user: string, more: Partial<Acquire> = {}): Promise<ParticipantAnswer> =>
  platform.node(at).call({
    ...{ type: 'acquire', user, waitMs: 5_000, ttlMs: 120_000, ticket: false, confirm: false },
    ...more,
  })

async function grantedTo(at: number, user: string, more: Partial<Acquire> = {}): Promise<number> {
  const answer = await platform.during(acquire(at, user, more))
  return (answer as unknown as { body: { grant: { fence: number } } }).body.grant.fence
}

/** As the router does it (worker/router/handlers/moving.ts). */
const AS_IMPORT: Partial<Acquire> = { confirm: true, owner: 'import' }

const cleanUp = (at: number) =>
  platform.during(
    platform.node(at).call({
      ...{ type: 'delete', user: 'd', force: true, generation: 1 },
      ...{ ifUnused: true, importer: IMPORT },
    }),
  )

const isHeld = async (at: number, user: string, fence: number) => {
  const kept = await platform.during(platform.node(at).call({ type: 'keepalive', user, fence, ttlMs: null }))
  return kept.type === 'done'
}

async function born(participants: number) {
  platform = new MemoryPlatform(participants)
  const configuration = { ...platform.defaults(1), imported: { epoch: 3, sequence: 100 } }
  const answer = await platform.during(platform.node(1).call({ type: 'configure', configuration }))
  expect(answer).toMatchObject({ type: 'done', status: 201 })
  await platform.advance(2_000)
}

describe('the lock of an import that has failed', () => {
  beforeEach(() => born(1))

  it('is deleted at once while the import holds it', async () => {
    await grantedTo(1, IMPORT, AS_IMPORT)
    const began = platform.now
    expect(await cleanUp(1)).toMatchObject({ type: 'done', status: 204 })
    expect(platform.now - began).toBeLessThan(1_000)
  })

  it('regression: stays if a client holds it, and so does the grant', async () => {
    const fence = await grantedTo(1, CLIENT)
    expect(await cleanUp(1)).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(await isHeld(1, CLIENT, fence)).toBe(true)
  })

  it('stays if a client holds it that the import waits for, which leaves', async () => {
    const fence = await grantedTo(1, CLIENT)
    const importing = acquire(1, IMPORT, { ...AS_IMPORT, waitMs: 25_000 })
    await platform.settle()
    expect(await cleanUp(1)).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(await platform.during(importing)).toMatchObject({ code: 'locked' })
    expect(await isHeld(1, CLIENT, fence)).toBe(true)
  })

  it('regression: stays if a client waits for it, which gets it from the import', async () => {
    await grantedTo(1, IMPORT, AS_IMPORT)
    const waiting = acquire(1, CLIENT, { waitMs: 20_000 })
    await platform.settle()
    expect(await cleanUp(1)).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(await platform.during(waiting)).toMatchObject({ status: 200 })
  })

  it('stays if a client holds it that calls itself like an import', async () => {
    const fence = await grantedTo(1, CLIENT, AS_IMPORT)
    expect(await cleanUp(1)).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(await isHeld(1, CLIENT, fence)).toBe(true)
  })

  it('regression: stays if it is complete, and only the answer that said so got lost', async () => {
    const fence = await grantedTo(1, IMPORT, AS_IMPORT)
    const part = { cells: [['=n', { value: 41, revision: 90 }]] as const, results: [] }
    const parts = [
      { number: 0, part },
      { number: 1, part: null },
    ]
    for (const one of parts) {
      const call = { type: 'import', user: IMPORT, fence, droppedThrough: 0, ...one } as const
      expect(await platform.during(platform.node(1).call(call))).toMatchObject({ type: 'done' })
    }
    const isComplete = { type: 'problem', code: 'conflict', more: { isComplete: true } }
    expect(await cleanUp(1)).toMatchObject(isComplete)
    await grantedTo(1, CLIENT)
    expect(await cleanUp(1)).toMatchObject(isComplete)
    const read = { type: 'get', key: 'n', consistency: 'local' } as const
    expect(await platform.during(platform.node(1).call(read))).toMatchObject({ body: { value: 41 } })
  })

  it('stays if a session holds it', async () => {
    const socket = await platform.node(1).session('s')
    platform.node(1).say(socket, { type: 'try', ttlMs: 60_000, owner: 'import' })
    await platform.settle()
    expect(await cleanUp(1)).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(socket.sent.map(({ type }) => type)).toEqual(['crit'])
  })
})

describe('the lock of an import that has failed, where others take part', () => {
  beforeEach(() => born(3))

  it('regression: stays if a client holds it at another participant, which can say so', async () => {
    const fence = await grantedTo(2, CLIENT)
    expect(await cleanUp(1)).toMatchObject({ type: 'problem', code: 'no_quorum' })
    expect(await isHeld(2, CLIENT, fence)).toBe(true)
    expect(await cleanUp(2)).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(await isHeld(2, CLIENT, fence)).toBe(true)
  })

  it('is deleted where the import holds it, if another participant was asked first', async () => {
    await grantedTo(1, IMPORT, AS_IMPORT)
    expect(await cleanUp(2)).toMatchObject({ type: 'problem', code: 'no_quorum' })
    expect(await cleanUp(1)).toMatchObject({ type: 'done', status: 204 })
  })

  it('is deleted by the others if the participant of the import is gone', async () => {
    await grantedTo(1, IMPORT, AS_IMPORT)
    platform.node(1).isAway = true
    expect(await cleanUp(2)).toMatchObject({ type: 'done', status: 204 })
  })
})
