/** `POST /v1/locks/{lock}/participants`: a lock gets other participants while it is used. */
import { describe, expect, it } from 'vitest'
import { CHANGING_PROTOCOLS } from '../../shared/protocols/members/which.ts'
import { openWatch } from './event-stream.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'
import { openSession } from './session-socket.ts'

const service = useService()

const change = (lock: TestLock, body: object) => lock.send('POST', '/participants', { body })

interface Membership {
  readonly participants: readonly { readonly id: number; readonly location: string | null }[]
  readonly configuration: number
}

/** The answer that all of it is done. */
async function changed(lock: TestLock, body: object): Promise<Membership> {
  return eventually(async () => expectStatus(await change(lock, body), 200).body as unknown as Membership)
}

const idsIn = ({ participants }: Membership) => participants.map(({ id }) => id)
const placesIn = ({ participants }: Membership) => participants.map(({ location }) => location)

async function used(protocol = 'wme-2'): Promise<TestLock> {
  const lock = service.lock()
  expectStatus(await lock.configure({ protocol } as never), 201)
  await lock.transacted([{ increment: 'n' }])
  return lock
}

describe.each(['wme-1', 'wme-2', 'wme-consensus'])('%s: the participants of a lock', protocol => {
  it('are added, removed and replaced one by one, and nothing is lost', async () => {
    const lock = await used(protocol)
    const fences = [(await lock.transacted([{ increment: 'n' }])).fence]
    const added = await changed(lock, { add: { location: 'oc' } })
    expect([idsIn(added), placesIn(added).at(-1)]).toEqual([[1, 2, 3, 4], 'oc'])
    fences.push((await lock.transacted([{ increment: 'n' }], { at: 4 })).fence)
    const removed = await changed(lock, { remove: 1 })
    expect(idsIn(removed)).toEqual([2, 3, 4])
    fences.push((await lock.transacted([{ increment: 'n' }])).fence)
    const replaced = await changed(lock, { replace: 2, location: 'sam' })
    expect([idsIn(replaced), placesIn(replaced).at(-1)]).toEqual([[3, 4, 5], 'sam'])
    fences.push((await lock.transacted([{ increment: 'n' }], { at: 5 })).fence)
    const numbers = [added, removed, replaced].map(({ configuration }) => configuration)
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right))
    expect(fences).toEqual([...new Set(fences)].sort((left, right) => left - right))
    expect(await lock.value('n')).toBe(5)
    const { participants } = expectStatus(await lock.status(), 200).body
    expect(participants.map(({ id, reachable }) => [id, reachable])).toEqual([
      [3, true],
      [4, true],
      [5, true],
    ])
  })

  it('are all replaced in one step, and only those that are new are left', async () => {
    const lock = await used(protocol)
    const all = await changed(lock, { participants: [{ location: 'me' }, { location: 'afr' }, {}] })
    expect([idsIn(all), placesIn(all)]).toEqual([
      [4, 5, 6],
      ['me', 'afr', null],
    ])
    await lock.transacted([{ increment: 'n' }])
    expect(await lock.value('n')).toBe(2)
    // One that stays and one that is new, and the lock of one participant.
    expect(idsIn(await changed(lock, { participants: [{ id: 5 }, { location: 'oc' }] }))).toEqual([5, 7])
    expect(idsIn(await changed(lock, { participants: [{ id: 7 }] }))).toEqual([7])
    await lock.transacted([{ increment: 'n' }])
    expect(await lock.value('n')).toBe(3)
  })
})

describe('ricart-agrawala: the participants of a lock', () => {
  it('are added, removed and replaced, and its fences go on', async () => {
    const lock = service.lock()
    expectStatus(await lock.configure({ protocol: 'ricart-agrawala' }), 201)
    const fences: number[] = []
    const use = async (at: number) => {
      const grant = await lock.granted({ at })
      fences.push(grant.fence)
      await lock.released(grant)
    }
    await use(1)
    expect(idsIn(await changed(lock, { add: { location: 'oc' } }))).toEqual([1, 2, 3, 4])
    await use(4)
    expect(idsIn(await changed(lock, { remove: 1 }))).toEqual([2, 3, 4])
    await use(2)
    expect(idsIn(await changed(lock, { replace: 2, location: 'me' }))).toEqual([3, 4, 5])
    await use(5)
    expect(idsIn(await changed(lock, { participants: [{ location: 'sam' }, { location: 'afr' }] }))).toEqual([
      6, 7,
    ])
    await use(6)
    await use(7)
    expect(fences).toEqual([...new Set(fences)].sort((left, right) => left - right))
  })

  it('stay as they are with a modulus', async () => {
    const lock = service.lock()
    const options = { modulus: 101 } as never
    expectStatus(await lock.configure({ protocol: 'ricart-agrawala', options }), 201)
    expect((await change(lock, { add: {} })).body.code).toBe('not_supported')
  })
})

describe.each(CHANGING_PROTOCOLS)('%s: the number of a configuration', protocol => {
  const use = async (lock: TestLock) => lock.released(await lock.granted())
  const made = async (lock: TestLock): Promise<Membership> => {
    expectStatus(await lock.configure({ protocol }), 201)
    await use(lock)
    // Asked for what it has: the answer has the number that it was born with.
    return changed(lock, { participants: [{ id: 1 }, { id: 2 }, { id: 3 }] })
  }

  it('rises with each change and each lock of the name, and is of no other lock', async () => {
    const lock = service.lock()
    const numbers: number[] = []
    for (let generation = 1; generation <= 3; generation++) {
      numbers.push((await made(lock)).configuration)
      for (const body of [{ add: { location: 'oc' } }, { remove: 4 }]) {
        const { configuration } = await changed(lock, body)
        numbers.push(configuration)
        await use(lock)
      }
      // A router that took a lower number for an older set would look for the lock where it was before.
      expect((await lock.status()).body.participants.map(({ id }) => id)).toEqual([1, 2, 3])
      expectStatus(await lock.send('DELETE', ''), 204)
    }
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right))
  })

  it('rises as well if the next lock has another protocol', async () => {
    const lock = service.lock()
    await made(lock)
    const before = await changed(lock, { add: { location: 'oc' } })
    expectStatus(await lock.send('DELETE', ''), 204)
    expectStatus(await lock.configure({ protocol: 'wme-2' }), 201)
    await use(lock)
    const after = await changed(lock, { participants: [{ id: 1 }, { id: 2 }, { id: 3 }] })
    expect(after.configuration).toBeGreaterThan(before.configuration)
  })

  it('is no condition that a later lock of the name fulfils', async () => {
    const lock = service.lock()
    await made(lock)
    const { configuration } = await changed(lock, { add: { location: 'oc' } })
    expectStatus(await lock.send('DELETE', ''), 204)
    await made(lock)
    const present = await changed(lock, { add: { location: 'oc' } })
    const { status, body } = await change(lock, { remove: 1, configuration })
    expect([status, body.code]).toEqual([409, 'conflict'])
    expect(body).toMatchObject({ ...present })
  })
})

describe('a change of the participants', () => {
  it('that is asked for again has been done', async () => {
    const lock = await used()
    const one = await changed(lock, { add: { location: 'oc' } })
    expect(await changed(lock, { add: { location: 'oc' } })).toEqual(one)
    const other = await changed(lock, { add: { location: 'oc' }, configuration: one.configuration })
    expect(idsIn(other)).toEqual([1, 2, 3, 4, 5])
    const without = await changed(lock, { remove: 4 })
    expect(await changed(lock, { remove: 4 })).toEqual(without)
    expect(await changed(lock, { replace: 4, location: 'me' })).toEqual(without)
    const all = { participants: [{ id: 1 }, { location: 'enam' }, { location: 'apac' }, { location: 'oc' }] }
    expect(await changed(lock, all)).toEqual(without)
  })

  it('that was made for other participants is a conflict, and says which there are', async () => {
    const lock = await used()
    const first = await changed(lock, { add: { location: 'oc' } })
    const body = { remove: 1, configuration: first.configuration - 1 }
    const { status, body: problem } = await change(lock, body)
    expect([status, problem.code]).toEqual([409, 'conflict'])
    expect(problem).toMatchObject({ ...first })
  })

  it('of two at once happens, and the other one is told so', async () => {
    const lock = await used()
    const answers = await Promise.all([
      change(lock, { replace: 1, location: 'oc' }),
      change(lock, { replace: 2, location: 'me' }),
    ])
    const statuses = answers.map(({ status }) => status).sort()
    expect([
      [200, 200],
      [200, 409],
      [202, 409],
    ]).toContainEqual(statuses)
    await lock.transacted([{ increment: 'n' }])
    expect(await lock.value('n')).toBe(2)
  })

  it.each<[what: string, body: object, detail: RegExp]>([
    ['removes one that never was', { remove: 9 }, /no participant 9, and never had.*1, 2, 3/],
    ['keeps one that is none', { participants: [{ id: 9 }] }, /Participant 9 is not a participant/],
    ['names one twice', { participants: [{ id: 1 }, { id: 1 }] }, /named twice/],
    ['leaves nobody', { participants: [] }, /must not be empty/],
    ['asks for two things', { add: {}, remove: 1 }, /./],
    ['asks for nothing', {}, /./],
    ['names no location', { add: { location: 'moon' } }, /./],
  ])('that %s is malformed, and changes nothing', async (_, body, detail) => {
    const lock = await used()
    const answer = await change(lock, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.detail).toMatch(detail)
    const { participants } = (await lock.status()).body
    expect(participants.map(({ id }) => id)).toEqual([1, 2, 3])
  })

  it('cannot remove the last participant, or make more than a lock may have', async () => {
    const lock = await used()
    await changed(lock, { participants: [{ id: 2 }] })
    const last = await change(lock, { remove: 2 })
    expect([last.status, last.body.detail]).toEqual([400, 'A lock has at least one participant.'])
    await changed(lock, { participants: [{ id: 2 }, ...new Array(12).fill({})] })
    const more = await change(lock, { add: { location: 'oc' } })
    expect([more.status, more.body.detail]).toEqual([400, 'A lock has at most 13 participants.'])
  })

  it('is nothing for a lock that does not exist, or whose protocol cannot do it', async () => {
    expect((await change(service.lock(), { add: {} })).body.code).toBe('no_such_lock')
    const lock = service.lock()
    expectStatus(await lock.configure({ protocol: 'maekawa' }), 201)
    const { status, body } = await change(lock, { add: {} })
    expect([status, body.code]).toEqual([501, 'not_supported'])
    expect(body.detail).toMatch(/maekawa.*wme-2/)
  })
})

describe('whoever uses the lock meanwhile', () => {
  it('keeps its grant if its participant stays', async () => {
    const lock = await used()
    const grant = await lock.granted({ at: 2 })
    await changed(lock, { replace: 3, location: 'oc' })
    expectStatus(await lock.ops(grant, [{ increment: 'n' }]), 200)
    await lock.released(grant)
    expect(await lock.value('n')).toBe(2)
  })

  it('goes on waiting elsewhere if its participant goes', async () => {
    const lock = await used()
    const holder = await lock.granted({ at: 2, ttlMs: 60_000 })
    const waiting = lock.acquire({ waitMs: 20_000 })
    await lock.untilQueueIs(1)
    const { participants } = (await lock.status()).body
    const at = participants.find(({ queue }) => (queue ?? 0) > 0)!.id
    if (at !== 2) await changed(lock, { replace: at, location: 'oc' })
    await lock.released(holder)
    const { grant } = expectStatus(await waiting, 200).body
    await lock.released(grant)
  })

  it('is told how its grant ended, if its participant was removed', async () => {
    const lock = await used()
    const grant = await lock.granted({ at: 2, ttlMs: 2_000 })
    // The owner is given time to finish; a grant that expires is over.
    await changed(lock, { remove: 2 })
    const late = await lock.ops(grant, [{ increment: 'n' }])
    expect(late.status).toBe(410)
    expect(late.body.outcome).toBe('not-applied')
    expect(await lock.value('n')).toBe(1)
  })

  it('with a session, or a watch, is sent on', async () => {
    const lock = await used()
    const session = await openSession(`${lock.url}/session?at=2`)
    const watch = await openWatch(`${lock.url}/watch?at=2`)
    await changed(lock, { remove: 2 })
    expect(await session.next()).toMatchObject({ type: 'error', detail: expect.stringContaining('has left') })
    await expect(session.next()).rejects.toThrow('closed')
    await eventually(async () => expect(watch.isOver).toBe(true))
    const again = await openSession(`${lock.url}/session`)
    again.send({ type: 'try' })
    expect(await again.next()).toMatchObject({ type: 'crit' })
    again.send({ type: 'exit' })
    expect(await again.next()).toMatchObject({ type: 'rem' })
  })
})

describe('a lock whose participants have changed', () => {
  it('says what it was created with is what it has, to whoever says it again', async () => {
    const lock = service.lock()
    const wish = { participants: [{ location: 'weur' }, { location: 'enam' }] } as never
    expectStatus(await lock.configure(wish), 201)
    await changed(lock, { replace: 2, location: 'oc' })
    const { body } = expectStatus(await lock.configure(wish), 200)
    expect(body).toMatchObject({ participants: [{ id: 1 }, { id: 4, location: 'oc' }] })
    const other = await lock.configure({ participants: [{ location: 'sam' }] } as never)
    expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  })

  it('is deleted, and the next one of its name has the default participants and higher fences', async () => {
    const lock = await used()
    await changed(lock, { participants: [{ location: 'me' }, { location: 'afr' }] })
    const before = (await lock.transacted([{ increment: 'n' }])).fence
    expectStatus(await lock.send('DELETE', ''), 204)
    expect((await lock.status()).body.code).toBe('no_such_lock')
    const { fence } = await lock.transacted([{ increment: 'n' }])
    expect(fence).toBeGreaterThan(before)
    const { participants } = expectStatus(await lock.status(), 200).body
    expect(participants.map(({ id, phase }) => [id, phase === 'joining'])).toEqual([
      [1, false],
      [2, false],
      [3, false],
    ])
    // Its numbers begin anew: the objects of the lock before are taken for new ones.
    expect(idsIn(await changed(lock, { replace: 1, location: 'me' }))).toEqual([2, 3, 4])
    expect(await lock.value('n')).toBe(1)
  })
})

itKeepsEveryPromise(service)
