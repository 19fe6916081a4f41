/**
 * A process that has lost its storage says when it is back in all locks. Only then may the next machine be
 * replaced, so it must be true of locks whose participants have changed, too.
 */
import { afterEach, expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { expectStatus, type TestLock } from './lock.ts'

const cluster = useCluster(5)
afterEach(() => cluster.restartAll())

interface Health {
  readonly ledger: { readonly healed: boolean; readonly unfinishedLocks: number }
}

async function healthOf(process: number): Promise<Health['ledger']> {
  return ((await (await fetch(`${cluster.urlOf(process)}/healthz`)).json()) as Health).ledger
}

const isBackInAll = (process: number) =>
  eventually(async () => expect(await healthOf(process)).toEqual({ healed: true, unfinishedLocks: 0 }))

/** Its participants are 2, 3 and 6, and 6 is in process 4. */
async function moved(): Promise<TestLock> {
  const lock = cluster.lock()
  expectStatus(await lock.configure({ participants: [{}, {}, {}] }), 201)
  for (const at of [1, 2, 3]) await lock.transacted([{ increment: 'n' }], { at })
  await eventually(async () => {
    const answer = await lock.send('POST', '/participants', { body: { replace: 1 } })
    const { participants } = expectStatus(answer, 200).body
    expect(participants.map(({ id }) => id)).toEqual([2, 3, 6])
  })
  return lock
}

async function replaceMachine(process: number): Promise<void> {
  await cluster.kill(process)
  await cluster.wipe(process)
  await cluster.restartAll()
}

const phaseOf = async (lock: TestLock, participant: number) =>
  expectStatus(await lock.status(), 200).body.participants.find(({ id }) => id === participant)?.phase

it('a process whose participant was removed before has nothing to wait for', async () => {
  const lock = await moved()
  await replaceMachine(1)
  await isBackInAll(1)
  await lock.transacted([{ increment: 'n' }])
  expect(await lock.value('n')).toBe(4)
})

it('a process with a participant that came later is not back before that one is', async () => {
  const lock = await moved()
  // Without it the others cannot take anybody back.
  cluster.pause(3)
  await replaceMachine(4)
  await eventually(async () => expect(await healthOf(4)).toMatchObject({ healed: true }))
  await eventually(async () => expect(await phaseOf(lock, 6)).toBe('joining'))
  for (let look = 0; look < 10; look++) {
    expect((await healthOf(4)).unfinishedLocks).toBeGreaterThan(0)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  cluster.resume(3)
  await isBackInAll(4)
  expect(await phaseOf(lock, 6)).not.toBe('joining')
  await replaceMachine(2)
  expect(await eventually(() => lock.value('n'))).toBe(3)
})
