/**
 * An idle lock costs nothing: no alarm is set and no request is made. The alarms are read from the runtime's
 * own table, and what the participants say to each other passes through proxies that count it; the service
 * does not know that it is watched.
 */
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../../worker/local/build.ts'
import { type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'
import { rowsOfCopy } from '../sqlite.ts'
import { CountingProxy } from './counting-proxy.ts'
import { eventually, sleep } from './eventually.ts'
import { itKeepsEveryPromise, TEST_LIMIT_MS } from './harness.ts'
import { Histories } from './histories.ts'
import { expectStatus, granted, TestLock } from './lock.ts'
import { openSession } from './session-socket.ts'

const PARTICIPANTS = 3
/** Longer than any interval at which the protocol repeats itself while it has a reason to. */
const LONG_MS = 6_000

let folder: string
let proxies: CountingProxy[]
let running: RunningWorkerd[]
let locks = 0
const urlOf = () => running.at(-1)!.url
const histories = new Histories(urlOf)

function newLock(): TestLock {
  const name = `idle-${++locks}`
  histories.add(name)
  return new TestLock(name, urlOf)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-test-'))
  const script = await bundle(fileURLToPath(new URL('../../worker/index.ts', import.meta.url)))
  proxies = await Promise.all(Array.from({ length: PARTICIPANTS }, () => CountingProxy.start()))
  const variables = {
    BATON_PARTICIPANTS: JSON.stringify(proxies.map(({ url }) => ({ url }))),
    BATON_PEER_SECRET: 'a secret of these tests',
  }
  const start = (name: string, more = {}) =>
    startWorkerd({ script, storage: join(folder, name), port: 0, variables: { ...variables, ...more } })
  running = []
  for (const [index, proxy] of proxies.entries()) {
    running.push(await start(`participant-${index + 1}`, { BATON_URL: proxy.url }))
    proxy.targetPort = running[index]!.port
  }
  running.push(await start('router', { BATON_OPEN: 'true' }))
}, TEST_LIMIT_MS)

afterAll(async () => {
  await Promise.all(running.map(process => process.stop('SIGKILL')))
  await Promise.all(proxies.map(proxy => proxy.stop()))
  await rm(folder, { recursive: true, force: true })
}, TEST_LIMIT_MS)

/** When the alarms of each process come, according to the runtime's own table. */
function alarms(): number[][] {
  return Array.from({ length: PARTICIPANTS }, (_, index) => {
    const storage = join(folder, `participant-${index + 1}`)
    return readdirSync(storage).flatMap(namespace => {
      const file = join(storage, namespace, 'metadata.sqlite')
      const rows = rowsOfCopy(file, 'SELECT scheduled_time / 1000000 AS at FROM _cf_ALARM')
      return rows.map(({ at }) => Number(at))
    })
  })
}

const NO_ALARMS = Array.from({ length: PARTICIPANTS }, () => [])

/**
 * An alarm stays until its time although the timer before it is over. A grant that runs out makes it come
 * soon: it gets an alarm shortly behind its end, and an alarm is moved to an earlier time.
 */
async function runOut(lock: TestLock, at: number): Promise<void> {
  await lock.granted({ at, ttlMs: 3_000 })
  await lock.untilFree()
}

const bytes = () => proxies.map(proxy => proxy.bytes)

/** Nothing goes through the proxies for a long time, and then again. */
async function expectSilence(): Promise<void> {
  await eventually(async () => {
    const before = bytes()
    await sleep(LONG_MS)
    expect(bytes()).toEqual(before)
  })
}

describe('an idle lock', () => {
  it('has no alarm and makes no request, whatever was done with it before', async () => {
    const lock = newLock()
    await Promise.all([1, 2, 3, 1, 2, 3].map(at => lock.transacted([{ increment: 'n' }], { at })))
    const grant = await lock.granted({ at: 2, ttlMs: 600_000 })
    const ticket = await lock.queued({ at: 3 })
    const expired = await lock.queued({ at: 1, ttlMs: 1_000 })
    expectStatus(await lock.acquire({ waitMs: 200, at: 1 }), 409)
    await eventually(() => expect(alarms()).not.toEqual(NO_ALARMS))
    expect(bytes().every(count => count > 0)).toBe(true)
    await lock.released(grant)
    await lock.released(granted(await lock.ticket(ticket.id, 25_000)))
    await lock.untilFree()
    // The token may still be on its way to the first participant when the lock looks free.
    await eventually(async () => {
      expect((await lock.ticket(expired.id)).status).toBeGreaterThanOrEqual(404)
    })
    expectStatus(await lock.eject(), 200)
    await lock.value('n', '?at=1')
    const session = await openSession(`${lock.url}/session?at=2`)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.close()
    await lock.untilFree()
    for (const at of [1, 2, 3]) await runOut(lock, at)
    await eventually(() => expect(alarms()).toEqual(NO_ALARMS))
    await expectSilence()
    expect(alarms()).toEqual(NO_ALARMS)
  })

  it('is not woken by a user that came and went where the token is, nor are the others', async () => {
    const lock = newLock()
    await runOut(lock, 1)
    await eventually(() => expect(alarms()).toEqual(NO_ALARMS))
    await expectSilence()
    const [, ...others] = bytes()
    for (let cycles = 0; cycles < 10; cycles++) await lock.released(await lock.granted({ at: 1 }))
    const atTheEnd = bytes()
    await sleep(LONG_MS)
    expect(alarms()).toEqual(NO_ALARMS)
    expect(bytes()).toEqual(atTheEnd)
    expect(atTheEnd.slice(1)).toEqual(others)
    // The next operation takes all of it along.
    await lock.transacted([{ increment: 'n' }], { at: 1 })
    await eventually(async () => {
      const { participants } = (await lock.status()).body
      expect(new Set(participants.map(({ sequence }) => sequence)).size).toBe(1)
    })
  })

  it('that is held has one alarm, for the end of the grant, and makes no request', async () => {
    const lock = newLock()
    const grant = await lock.granted({ at: 2, ttlMs: 600_000 })
    await lock.applied(grant, [{ increment: 'n' }])
    await expectSilence()
    const atTheEnd = [[], [Date.parse(grant.expiresAt)], []]
    await eventually(() => expect(alarms()).toEqual(atTheEnd))
    // The alarm of a grant that was given back stays until its time, finds nothing to do, and is the last.
    await lock.released(grant)
    await expectSilence()
    expect(alarms()).toEqual(atTheEnd)
    await runOut(lock, 2)
    await eventually(() => expect(alarms()).toEqual(NO_ALARMS))
  })
})

itKeepsEveryPromise({ histories, lock: newLock })
