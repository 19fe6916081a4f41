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

/** How many objects of each process have an alarm set, according to the runtime's own table. */
function alarms(): number[] {
  return Array.from({ length: PARTICIPANTS }, (_, index) => {
    const storage = join(folder, `participant-${index + 1}`)
    return readdirSync(storage).reduce((sum, namespace) => {
      const file = join(storage, namespace, 'metadata.sqlite')
      const [row] = rowsOfCopy(file, 'SELECT count(*) AS count FROM _cf_ALARM')
      return sum + (row!.count as number)
    }, 0)
  })
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
    expect(alarms().some(count => count > 0)).toBe(true)
    expect(bytes().every(count => count > 0)).toBe(true)
    await lock.released(grant)
    await lock.released(granted(await lock.ticket(ticket.id, 25_000)))
    await lock.untilFree()
    expect((await lock.ticket(expired.id)).status).toBeGreaterThanOrEqual(404)
    expectStatus(await lock.eject(), 200)
    await lock.value('n', '?at=1')
    const session = await openSession(`${lock.url}/session?at=2`)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.close()
    await lock.untilFree()
    await expectSilence()
    expect(alarms()).toEqual([0, 0, 0])
  })

  it('that is held has one alarm, for the end of the grant, and makes no request', async () => {
    const lock = newLock()
    const grant = await lock.granted({ at: 2, ttlMs: 600_000 })
    await lock.applied(grant, [{ increment: 'n' }])
    await expectSilence()
    expect(alarms()).toEqual([0, 1, 0])
    // The alarm of a grant that was given back stays until its time, finds nothing to do, and is the last.
    expectStatus(await lock.keepAlive(grant, { ttlMs: 1_000 }), 200)
    await lock.released(grant)
    await eventually(() => expect(alarms()).toEqual([0, 0, 0]))
  })
})

itKeepsEveryPromise({ histories, lock: newLock })
