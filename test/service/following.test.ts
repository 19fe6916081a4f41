/**
 * `follow: true` on the real runtime: a lock moves to where its work is. Requests say where they come from in
 * a header, as the platform does; a service that was not started so does not believe them.
 */
import { expect, it } from 'vitest'
import type { MembersEvent } from '../../shared/history/events.ts'
import { eventually } from './eventually.ts'
import { CF_HEADER, itKeepsEveryPromise, useService, useServiceWithPlaces } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'

const service = useServiceWithPlaces('./following-worker.ts')
const ordinary = useService({}, './following-worker.ts')

const SYDNEY = { latitude: '-33.87', longitude: '151.21' }
const FRANKFURT = { latitude: '50.11', longitude: '8.68' }

const participants = [{ location: 'weur' }, { location: 'eeur' }, { location: 'apac' }] as const

interface Worked {
  readonly fence: number
  readonly participant: number
}

/** How often each lock was told to count, and said that it did. */
const applied = new Map<string, number>()

async function work(lock: TestLock, from: object): Promise<Worked> {
  const headers = { [CF_HEADER]: JSON.stringify(from) }
  const { grant } = expectStatus(await lock.send('POST', '/acquire', { headers, body: {} }), 200).body
  const body = { opId: lock.newOpId(), ops: [{ increment: 'n' }] }
  expectStatus(await lock.send('POST', `/grants/${grant.id}/ops`, { body }), 200)
  applied.set(lock.name, (applied.get(lock.name) ?? 0) + 1)
  await lock.released(grant)
  return grant
}

const statusOf = async (lock: TestLock) =>
  expectStatus(await lock.status(), 200).body as unknown as {
    readonly participants: readonly { readonly id: number; readonly location: string | null }[]
    readonly movedAt?: string | null
  }
const placesOf = async (lock: TestLock) => (await statusOf(lock)).participants.map(({ location }) => location)

async function movesOf(lock: TestLock): Promise<MembersEvent[]> {
  const { body } = expectStatus(await lock.send('GET', '/history'), 200)
  const events = body.participants.flatMap(one => one.events as unknown as { type: string }[])
  return events.filter(({ type }) => type === 'members') as MembersEvent[]
}

it.each(['wme-1', 'wme-2', 'wme-consensus'])(
  '%s: a lock goes where its work is, says so, and loses nothing',
  async protocol => {
    const lock = service.lock()
    expectStatus(await lock.configure({ protocol, participants, follow: true } as never), 201)
    const done: Worked[] = []
    for (let count = 0; count < 4; count++) done.push(await work(lock, FRANKFURT))
    expect(done.map(({ participant }) => participant)).toEqual([1, 1, 1, 1])
    expect(await statusOf(lock)).toMatchObject({ movedAt: null })
    // Most of it comes from Sydney now: the one that is farthest from there is replaced.
    await eventually(async () => {
      done.push(await work(lock, SYDNEY))
      expect(await placesOf(lock)).toContain('oc')
    })
    const { participants: now, movedAt } = await statusOf(lock)
    expect(now).toMatchObject([
      { id: 2, location: 'eeur' },
      { id: 3, location: 'apac' },
      { id: 4, location: 'oc' },
    ])
    expect(Date.parse(movedAt!)).toBeLessThanOrEqual(Date.now())
    await eventually(async () => expect(await work(lock, SYDNEY)).toMatchObject({ participant: 4 }))
    const moves = await movesOf(lock)
    expect(new Set(moves.map(({ by }) => by))).toEqual(new Set(['follow']))
    expect(new Set(moves.map(({ configuration }) => configuration)).size).toBe(1)
    expect(moves[0]!.members.map(({ id }) => id)).toEqual([2, 3, 4])
    expect(moves.map(({ participant }) => participant)).toEqual(expect.arrayContaining([2, 3, 4]))
    // It moves once in a quarter of an hour, whatever happens.
    for (let count = 0; count < 12; count++) await work(lock, FRANKFURT)
    expect((await statusOf(lock)).movedAt).toBe(movedAt)
    const fences = done.map(({ fence }) => fence)
    expect(fences).toEqual([...new Set(fences)].sort((left, right) => left - right))
    expect(await lock.value('n')).toBe(applied.get(lock.name))
  },
)

it('a lock that is not to follow stays, and so does one of a service that is told nothing', async () => {
  const still = service.lock()
  expectStatus(await still.configure({ participants } as never), 201)
  const unmoved = ordinary.lock()
  expectStatus(await unmoved.configure({ participants, follow: true } as never), 201)
  for (const lock of [still, unmoved]) {
    for (let count = 0; count < 12; count++) await work(lock, SYDNEY)
    expect(await placesOf(lock)).toEqual(['weur', 'eeur', 'apac'])
    expect(await movesOf(lock)).toEqual([])
  }
})

it('an operator moves a lock that follows, and the history tells the two apart', async () => {
  const lock = service.lock()
  expectStatus(await lock.configure({ participants, follow: true } as never), 201)
  await work(lock, FRANKFURT)
  await eventually(async () =>
    expectStatus(await lock.send('POST', '/participants', { body: { remove: 3 } }), 200),
  )
  expect(new Set((await movesOf(lock)).map(({ by }) => by))).toEqual(new Set(['operator']))
  expect((await statusOf(lock)).movedAt).not.toBeNull()
})

itKeepsEveryPromise(service)
