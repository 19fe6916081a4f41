/**
 * Twenty clients count while participants die, stand still and come back at random. The printed seed
 * reproduces the plan.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { choices, type TestCluster, useCluster } from './cluster-harness.ts'
import { sleep } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { byGrant, byTransact, Load } from './load.ts'
import { expectStatus } from './lock.ts'

const three = useCluster(3)
const five = useCluster(5, 'wme-1')
afterEach(async () => {
  await three.restartAll()
  await five.restartAll()
})

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))

/** mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Mostly a minority is killed or stands still for a while. Now and then it is a majority: nothing goes on,
 * and nothing is lost.
 */
async function disturb(cluster: TestCluster, forMs: number, random: () => number): Promise<number> {
  const end = Date.now() + forMs
  let disturbances = 0
  while (Date.now() < end) {
    await sleep(100 + random() * 500)
    const many = random() < 0.2 ? cluster.size : Math.floor((cluster.size - 1) / 2)
    const all = choices(cluster.participants, 1 + Math.floor(random() * many))
    const victims = all[Math.floor(random() * all.length)]!
    const isPause = random() < 0.3
    disturbances += victims.length
    if (isPause) for (const victim of victims) cluster.pause(victim)
    else await cluster.kill(...victims)
    await sleep(50 + random() * (isPause ? 1_500 : 700))
    if (isPause) for (const victim of victims) cluster.resume(victim)
    else await cluster.restartAll()
  }
  return disturbances
}

const epochs: number[] = []

describe(`random kill -9 and SIGSTOP under load (SEED=${SEED})`, () => {
  it.each([
    ['three participants, transact', three, byTransact()],
    ['five participants, transact at each', five, byTransact(5)],
    ['three participants, acquire, ops and release', three, byGrant],
  ])('%s: every acknowledged operation is there once, and no other', async (_, cluster, way) => {
    const lock = cluster.lock()
    // Suspicions come quickly, even wrong ones: those are welcome here.
    expectStatus(await lock.configure({ detector: { heartbeatMs: 100, timeoutMs: 500 } }), 201)
    const load = new Load(lock, 20, way, { givenUp: 0.2 })
    await load.untilAcknowledged(5)
    const disturbances = await disturb(cluster, 6_000, randomFrom(SEED))
    await load.finish()
    await load.expectEachOnce()
    epochs.push(...(await lock.status()).body.participants.map(({ epoch }) => epoch ?? 0))
    expect(disturbances).toBeGreaterThan(1)
    expect(load.acknowledged.size).toBeGreaterThanOrEqual(20)
  })
})

it('was worth it: owners were lost, and others took over', () => {
  expect(Math.max(...epochs)).toBeGreaterThan(0)
})

itKeepsEveryPromise(three)
itKeepsEveryPromise(five)
