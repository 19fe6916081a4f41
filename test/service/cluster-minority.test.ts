/** A lock goes on with any minority of its participants gone, whichever they are, including the first one. */
import { afterEach, describe, expect, it } from 'vitest'
import { choices, type TestCluster, useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { expectStatus } from './lock.ts'

const three = useCluster(3)
const five = useCluster(5, 'wme-1')
afterEach(async () => {
  await three.restartAll()
  await five.restartAll()
})

/** All use the lock, then only the others, then all again: nothing is lost on the way. */
async function goOnWithout(cluster: TestCluster, gone: readonly number[]): Promise<void> {
  const lock = cluster.lock()
  // The token is at a participant that will be gone.
  for (const at of [...cluster.participants.filter(id => !gone.includes(id)), ...gone]) {
    await lock.transacted([{ increment: 'n' }], { at })
  }
  const before = cluster.size
  await cluster.kill(...gone)
  for (const [index, at] of cluster.up.entries()) {
    const { results } = await eventually(() =>
      lock.transacted([{ increment: 'n' }], { at, opId: `without ${at}` }),
    )
    expect(results[0]).toMatchObject({ value: before + index + 1 })
  }
  const after = before + cluster.up.length
  for (const at of cluster.up) expect(await lock.value('n', `?at=${at}`)).toBe(after)
  expect(await lock.value('n')).toBe(after)
  const { participants } = (await lock.status()).body
  expect(participants.filter(({ reachable }) => !reachable).map(({ id }) => id)).toEqual(gone)

  const born = cluster.lock()
  await born.transacted([{ increment: 'n' }])
  const grant = await born.granted({ at: cluster.up.at(-1)!, confirm: true })
  await born.applied(grant, [{ increment: 'n' }])
  await born.released(grant)

  await cluster.restartAll()
  for (const at of cluster.participants) {
    expect(await eventually(() => lock.value('n', `?at=${at}`))).toBe(after)
    expect(await eventually(() => born.value('n', `?at=${at}`))).toBe(2)
    await eventually(() => lock.transacted([{ increment: 'back' }], { at, opId: `back ${at}` }))
  }
  expect(await lock.value('back')).toBe(cluster.size)
}

describe('of three participants', () => {
  it.each(choices([1, 2, 3], 1))('goes on without %i', async gone => {
    await goOnWithout(three, [gone])
  })
})

describe('of five participants', () => {
  it.each(choices([1, 2, 3, 4, 5], 2))('goes on without %i and %i', async (one, other) => {
    await goOnWithout(five, [one!, other!])
  })
})

describe('a lock that is born while a participant is down', () => {
  it.each([1, 2, 3])('is the same lock for participant %i when it comes back', async gone => {
    await three.kill(gone)
    const lock = three.lock()
    expectStatus(await lock.configure({ localHandoffs: 7 }), 201)
    const { sequence } = await lock.transacted([{ put: 'a', value: 1 }])
    await three.restartAll()
    expectStatus(await lock.configure({ localHandoffs: 7 }), 200)
    expect((await lock.configure({ localHandoffs: 8 })).body.code).toBe('conflict')
    const read = await eventually(async () => expectStatus(await lock.get('a', `?at=${gone}`), 200))
    expect(read.body).toMatchObject({ value: 1, revision: sequence })
    await eventually(() => lock.transacted([{ put: 'a', value: 2 }], { at: gone, opId: 'there' }))
    expect(await lock.value('a')).toBe(2)
  })
})

itKeepsEveryPromise(three)
itKeepsEveryPromise(five)
