/** `POST …/import` takes back what the service exported, and nothing that no lock can have. */
import { describe, expect, it } from 'vitest'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'

const here = useService()

const exported = async (lock: TestLock) =>
  expectStatus(await lock.send('GET', '/export'), 200).body as unknown as { readonly [name: string]: unknown }

function nested(levels: number): unknown {
  let deep: unknown = 1
  for (let level = 0; level < levels; level++) deep = [deep]
  return deep
}

/** As a lock that was just used says it. */
async function someExport() {
  const lock = here.lock()
  await lock.transacted([{ put: 'a', value: 1 }])
  return exported(lock)
}

describe('what the service exported', () => {
  const comesBack = async (lock: TestLock) =>
    expectStatus(await here.lock().send('POST', '/import', { body: await exported(lock) }), 201)

  it('of a lock that follows its work', async () => {
    const lock = here.lock()
    const participants = ['weur', 'enam', 'apac'].map(location => ({ location }))
    expectStatus(await lock.configure({ follow: true, participants } as never), 201)
    await lock.transacted([{ put: 'a', value: 1 }])
    await comesBack(lock)
  })

  it.each([1, 2])('regression: of a lock with %i participants, whoever is asked first', async count => {
    const lock = here.lock()
    expectStatus(await lock.configure({ participants: Array(count).fill({}) } as never), 201)
    await lock.transacted([{ put: 'a', value: 1 }])
    // Which participant is asked first depends on the name.
    for (let name = 0; name < 6; name++) await comesBack(lock)
  })

  it.each([50, 58, 60, 62])('of a value with %i levels', async levels => {
    const lock = here.lock()
    await lock.transacted([{ put: 'a', value: nested(levels) as never }])
    await comesBack(lock)
  })

  it.each([55, 58, 60])('of a value with %i levels that was read', async levels => {
    const lock = here.lock()
    await lock.transacted([{ put: 'a', value: nested(levels) as never }, { get: 'a' }])
    await comesBack(lock)
  })
})

describe('what no lock can have is refused', () => {
  const cell = (revision: number) => ({ cell: '=a', value: { value: 5, revision } })
  const once = { opId: 'o', sequence: 2, digest: 'd', result: { applied: true, results: [] } }
  it.each([
    [
      'a value that is too heavy',
      413,
      { cells: [{ cell: '=a', value: { value: 'x'.repeat(3_000_000), revision: 1 } }] },
    ],
    ['a cell without a revision', 400, { cells: [{ cell: '=a', value: 5 }] }],
    ['a cell of no key', 400, { cells: [{ ...cell(1), cell: 'aa' }] }],
    ['a part of another import', 400, { cells: [{ ...cell(1), cell: '~import/7' }] }],
    ['an operation that was done twice', 400, { sequence: 9, results: [once, once] }],
    [
      'results that are not in their order',
      400,
      { sequence: 9, results: [once, { ...once, opId: 'p', sequence: 1 }] },
    ],
    // A later operation would get the same revision, and `ifRevision` would take one for the other.
    ['regression: a revision to come', 400, { sequence: 9, cells: [cell(10)] }],
    ['regression: an operation to come', 400, { sequence: 9, results: [{ ...once, sequence: 10 }] }],
    ['regression: operations to come that were forgotten', 400, { sequence: 9, droppedThrough: 10 }],
    ['regression: a key twice', 400, { sequence: 9, cells: [cell(1), cell(2)] }],
    ['an epoch whose fences are no numbers', 400, { epoch: 2 ** 43 }],
    ['a place that no log reaches', 400, { sequence: Number.MAX_SAFE_INTEGER }],
  ])('%s', async (_, status, wrong) => {
    const lock = here.lock()
    const answer = await lock.send('POST', '/import', { body: { ...(await someExport()), ...wrong } })
    expect(answer.status).toBe(status)
    expect((await lock.status()).body.code).toBe('no_such_lock')
  })
})

/** All of a large document but its end, so that parts of it are put aside; `rest` sends the end. */
async function almostImported(lock: TestLock) {
  const cells = Array.from({ length: 300 }, (_, index) => ({
    cell: `=${index}`,
    value: { value: 'x'.repeat(10_000), revision: 1 },
  }))
  const text = JSON.stringify({ ...(await someExport()), cells })
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const leaving = new AbortController()
  const url = `${here.url}/v1/locks/${lock.name}/import`
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', body: readable, duplex: 'half', headers, signal: leaving.signal }
  const answer = fetch(url, init as RequestInit).catch(() => undefined)
  const send = (part: string) => writer.write(new TextEncoder().encode(part))
  await send(text.slice(0, -2))
  await expect.poll(async () => (await lock.status()).body.holder?.owner, { timeout: 20_000 }).toBe('import')
  const rest = async () => {
    await send(text.slice(-2))
    await writer.close()
    return (await answer)!
  }
  return { leaving, answer, rest }
}

it('a lock is empty for everybody until all of its import is there', async () => {
  const lock = here.lock()
  const { leaving, answer } = await almostImported(lock)
  await new Promise(resolve => setTimeout(resolve, 1_000))
  expect((await lock.send('GET', '/state')).body.entries).toEqual([])
  leaving.abort()
  await answer
}, 60_000)

it('one that fails does not delete what others have done with the lock since', async () => {
  const lock = here.lock()
  const { rest } = await almostImported(lock)
  expectStatus(await lock.eject(), 200)
  await lock.transacted([{ put: 'mine', value: 1 }])
  expect((await rest()).status).toBe(410)
  expect(await lock.value('mine')).toBe(1)
}, 60_000)

itKeepsEveryPromise(here)
