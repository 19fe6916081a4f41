/**
 * Changes of the participants in the history. The service is started again here, and a router that begins
 * knows nothing of those that were participants before: so this is no part of contract-members.test.ts.
 */
import { expect, it } from 'vitest'
import type { HistoryEvent, MembersEvent } from '../../shared/history/events.ts'
import { eventually } from './eventually.ts'
import { useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'

const service = useService()

interface Membership {
  readonly participants: readonly { readonly id: number; readonly location: string | null }[]
  readonly configuration: number
}

/** The answer that all of it is done. */
async function changed(lock: TestLock, body: object): Promise<Membership> {
  return eventually(
    async () =>
      expectStatus(await lock.send('POST', '/participants', { body }), 200).body as unknown as Membership,
  )
}

type Heard = Pick<MembersEvent, 'configuration' | 'members' | 'by'>

const heardOf = ({ configuration, participants }: Membership): Heard => ({
  ...{ configuration, by: 'operator' },
  members: participants.map(({ id, location }) => ({ id, location })),
})

/** By participant: the members that it says it heard of. */
async function membersHeard(lock: TestLock): Promise<Map<number, Heard[]>> {
  const { body } = expectStatus(await lock.send('GET', '/history'), 200)
  return new Map(
    body.participants.map(({ id, events }) => {
      const heard = (events as unknown as HistoryEvent[]).filter(event => event.type === 'members')
      return [id, heard.map(({ configuration, members, by }) => ({ configuration, members, by }))]
    }),
  )
}

it.each(['wme-2', 'wme-consensus', 'ricart-agrawala'])(
  '%s: a change of the participants is in the history of everybody',
  async protocol => {
    const lock = service.lock()
    expectStatus(await lock.configure({ protocol } as never), 201)
    await lock.released(await lock.granted({}))
    const added = await changed(lock, { add: { location: 'oc' } })
    const removed = await changed(lock, { remove: 1 })
    await eventually(async () => {
      const heard = await membersHeard(lock)
      for (const id of [2, 3, 4]) expect(heard.get(id)).toContainEqual(heardOf(removed))
      expect(heard.get(1)).toContainEqual(heardOf(added))
    })
    // Each tells it once: also if it is said again, and after a new start, which finds the same members.
    await changed(lock, { remove: 1 })
    await service.kill()
    await service.start()
    await lock.released(await lock.granted({}))
    for (const [id, heard] of await membersHeard(lock)) {
      const numbers = heard.map(({ configuration }) => configuration)
      expect(numbers, `participant ${id}`).toEqual([...new Set(numbers)])
    }
  },
)
