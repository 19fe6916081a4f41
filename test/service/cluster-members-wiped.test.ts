/** Participants that came later lose their storage like others, and are taken back like others. */
import { afterEach, describe, expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { expectStatus } from './lock.ts'

const cluster = useCluster(4)
afterEach(() => cluster.restartAll())

describe('processes that lose everything one after the other', () => {
  it('are healed in turn while the lock is idle, and nothing of it is lost', async () => {
    const lock = cluster.lock()
    expectStatus(await lock.configure({ participants: [{}, {}, {}] }), 201)
    for (const at of [1, 2, 3]) await lock.transacted([{ increment: 'n' }], { at })
    // The new one is in process 4.
    await eventually(async () => {
      const { participants } = expectStatus(
        await lock.send('POST', '/participants', { body: { replace: 1 } }),
        200,
      ).body
      expect(participants.map(({ id }) => id)).toEqual([2, 3, 5])
    })
    for (const wiped of [4, 2]) {
      await cluster.kill(wiped)
      await cluster.wipe(wiped)
      await cluster.restartAll()
      // Nobody uses the lock meanwhile: its participants are only looked at.
      await eventually(async () => {
        const { participants } = expectStatus(await lock.status(), 200).body
        const phases = participants.map(({ phase, sequence }) => [phase === 'joining', sequence === 6])
        expect(phases).toEqual(participants.map(() => [false, true]))
      })
    }
    expect(await eventually(() => lock.value('n'))).toBe(3)
    await eventually(() => lock.transacted([{ increment: 'n' }]))
    expect(await lock.value('n')).toBe(4)
  })
})
