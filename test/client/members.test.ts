/** `changeMembers`, against a service that says what a test wants it to say. */
import { describe, expect, it } from 'vitest'
import { ConflictError, createBaton, type MembersChange } from '../../client/index.ts'
import { BEGUN, CHANGED, CONFLICT, serveMembers } from './fake-members.ts'

const lockAt = (url: string) => createBaton({ url, retry: { firstPauseMs: 1 } }).lock('orders')

describe('changeMembers', () => {
  it.each<MembersChange>([
    { add: {} },
    { add: { location: 'apac' } },
    { remove: 2 },
    { replace: 2, location: 'apac' },
    { participants: [{ id: 1 }, { location: 'apac' }] },
  ])('asks for %j as it is', async change => {
    await using service = await serveMembers(CHANGED)
    const changed = await lockAt(service.url).changeMembers(change)
    expect(changed).toMatchObject({ configuration: 8, isDone: true })
    expect(changed.participants).toHaveLength(2)
    expect(service.asked).toEqual([{ path: '/v1/locks/orders/participants', body: change }])
  })

  it('says that it goes on', async () => {
    await using service = await serveMembers(BEGUN, CHANGED)
    const lock = lockAt(service.url)
    expect(await lock.changeMembers({ remove: 2 })).toMatchObject({ configuration: 7, isDone: false })
    expect(await lock.changeMembers({ remove: 2 })).toMatchObject({ configuration: 8, isDone: true })
  })

  it('is asked for again if the answer gets lost', async () => {
    await using service = await serveMembers('lose', CHANGED)
    expect(await lockAt(service.url).changeMembers({ remove: 2 })).toMatchObject({ isDone: true })
    expect(service.asked).toHaveLength(2)
  })

  it('tells who the participants are if another change came first', async () => {
    await using service = await serveMembers(CONFLICT)
    const error = await lockAt(service.url)
      .changeMembers({ remove: 2 })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConflictError)
    expect((error as ConflictError).more.participants).toHaveLength(2)
  })
})
