/** Twenty clients count while participants are killed and come back at random. The seed is printed: it makes the same plan. */
import { afterEach, describe, expect, it } from 'vitest'
import { choices, type TestCluster, useCluster } from './cluster-harness.ts'
import { sleep } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { byGrant, byTransact, Load } from './load.ts'

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

/** Now and then a majority dies too: then nothing goes on, and nothing is lost either. */
async function disturb(cluster: TestCluster, forMs: number, random: () => number): Promise<number> {
  const end = Date.now() + forMs
  let kills = 0
  while (Date.now() < end) {
    await sleep(100 + random() * 500)
    const many = random() < 0.2 ? cluster.size : Math.floor((cluster.size - 1) / 2)
    const all = choices(cluster.participants, 1 + Math.floor(random() * many))
    const victims = all[Math.floor(random() * all.length)]!
    await cluster.kill(...victims)
    kills += victims.length
    await sleep(50 + random() * 700)
    await cluster.restartAll()
  }
  return kills
}

describe(`random kill -9 under load (SEED=${SEED})`, () => {
  it.each([
    ['three participants, transact', three, byTransact()],
    ['five participants, transact at each', five, byTransact(5)],
    ['three participants, acquire, ops and release', three, byGrant],
  ])('%s: every acknowledged operation is there once, and no other', async (_, cluster, way) => {
    const lock = cluster.lock()
    const load = new Load(lock, 20, way, { givenUp: 0.2 })
    await load.untilAcknowledged(5)
    const kills = await disturb(cluster, 6_000, randomFrom(SEED))
    await load.finish()
    await load.expectEachOnce()
    expect(kills).toBeGreaterThan(1)
    expect(load.acknowledged.size).toBeGreaterThanOrEqual(20)
  })
})

itKeepsEveryPromise(three)
itKeepsEveryPromise(five)
