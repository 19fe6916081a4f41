/**
 * The service of today on the disk of commit d204fbb, on real workerd: what clients were told then is true
 * now, and fences go on from there.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { LocalCluster } from '../../worker/local/cluster.ts'
import { keptPorts } from '../../worker/local/ports.ts'
import { startService } from '../../worker/local/service.ts'
import type { RunningWorkerd } from '../../worker/local/workerd.ts'
import { eventually, sleep } from '../service/eventually.ts'
import { readFixture, restore, type Told } from './fixture.ts'

const LIMIT_MS = 240_000
const fixture = readFixture()

interface Answered {
  readonly status: number
  readonly body: { readonly [member: string]: Json }
}

async function ask(url: string, method: string, path: string, body?: Json): Promise<Answered> {
  const response = await fetch(`${url}/v1/locks/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answered['body']) }
}

/** Until it is answered well: a participant may be waking, or asking the others. */
const askUntil = (url: string, method: string, path: string, body?: Json): Promise<Answered['body']> =>
  eventually(async () => {
    const answer = await ask(url, method, path, body)
    expect([path, answer.status < 300 ? 'well' : answer]).toEqual([path, 'well'])
    return answer.body
  })

interface Granted {
  readonly id: string
  readonly fence: number
}

async function acquired(url: string, lock: string): Promise<Granted> {
  const { grant } = await askUntil(url, 'POST', `${lock}/acquire`, { waitMs: 20_000 })
  return grant as unknown as Granted
}

const guardsState = ({ protocol }: Told): boolean => protocol.startsWith('wme')

/** What clients were told is true. */
async function expectKept(url: string, lock: string, told: Told, at = ''): Promise<void> {
  if (!guardsState(told)) return
  const { state } = await askUntil(url, 'GET', `${lock}/state?consistency=linearizable${at}`)
  expect(state).toEqual(told.state)
  for (const { opId, ops, answer } of told.operations)
    expect(await askUntil(url, 'POST', `${lock}/transact`, { opId, ops, waitMs: 20_000 })).toEqual(answer)
}

/** The fences go on, and so do operations; nothing else has changed. Returns the last fence. */
async function expectGoesOn(url: string, lock: string, told: Told, after: number): Promise<number> {
  const grant = await acquired(url, lock)
  expect(grant.fence).toBeGreaterThan(after)
  if (guardsState(told)) {
    const { applied } = await askUntil(url, 'POST', `${lock}/grants/${grant.id}/ops`, {
      opId: `after-${grant.fence}`,
      ops: [{ increment: 'after the upgrade' }],
    })
    expect(applied).toBe(true)
  }
  await askUntil(url, 'DELETE', `${lock}/grants/${grant.id}`)
  if (!guardsState(told)) return grant.fence
  const { state } = await askUntil(url, 'GET', `${lock}/state?consistency=linearizable`)
  expect(state).toMatchObject(told.state)
  return grant.fence
}

describe('one process', () => {
  const { told } = fixture.start
  let folder: string
  let service: RunningWorkerd
  const output: string[] = []
  const start = () =>
    startService({ port: 0, storage: join(folder, 'storage'), onOutput: line => output.push(line) })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-test-'))
    restore(fixture.start, join(folder, 'storage'), { heldUntil: Date.now() + 600_000 })
    // The process is killed while it takes the storage over: some locks are done, some are not.
    for (const afterMs of [0, 10, 25, 60]) {
      service = await start()
      for (const lock of Object.keys(told)) void ask(service.url, 'GET', `${lock}/state`).catch(() => {})
      await sleep(afterMs)
      await service.stop('SIGKILL')
    }
    service = await start()
  }, LIMIT_MS)
  afterAll(async () => {
    await service?.stop('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  const free = Object.keys(told).filter(lock => told[lock]!.held === null)
  const held = Object.keys(told).filter(lock => told[lock]!.held !== null)

  it.each(free)(
    '%s: what was acknowledged is there, and fences go on',
    async lock => {
      await expectKept(service.url, lock, told[lock]!)
      await expectGoesOn(service.url, lock, told[lock]!, told[lock]!.fence)
    },
    LIMIT_MS,
  )

  it.each(held)(
    '%s: its holder still has it',
    async lock => {
      const { url } = service
      const grant = told[lock]!.held as unknown as Granted
      expect((await ask(url, 'POST', `${lock}/acquire`, { waitMs: 0 })).status).toBe(409)
      await askUntil(url, 'POST', `${lock}/grants/${grant.id}/keepalive`, { ttlMs: 60_000 })
      if (guardsState(told[lock]!)) {
        const { applied } = await askUntil(url, 'POST', `${lock}/grants/${grant.id}/ops`, {
          opId: 'by the old holder',
          ops: [{ increment: 'by the old holder' }],
        })
        expect(applied).toBe(true)
      }
      await askUntil(url, 'DELETE', `${lock}/grants/${grant.id}`)
      await expectGoesOn(url, lock, told[lock]!, grant.fence)
    },
    LIMIT_MS,
  )

  it(
    'and again after the process was killed',
    async () => {
      await service.stop('SIGKILL')
      service = await start()
      for (const lock of free) await expectGoesOn(service.url, lock, told[lock]!, told[lock]!.fence)
      expect(output.filter(line => line.includes('instance_over'))).toEqual([])
    },
    LIMIT_MS,
  )
})

describe('a process for each participant', () => {
  const { told } = fixture.cluster
  let folder: string
  let cluster: LocalCluster
  const output: string[] = []
  const wipe = (id: number) => rm(join(folder, `participant-${id}`), { recursive: true, force: true })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-test-'))
    const ports = await keptPorts(join(folder, 'ports.json'), 3)
    restore(fixture.cluster, folder, { ports, heldUntil: Date.now() - 1 })
    // The third had lost this lock before the upgrade, and nobody has used it since.
    const lost = fixture.cluster.objects.find(({ file, records }) => {
      const identity = new Map(records).get('.identity')!
      return file.startsWith('participant-3') && identity.includes('"first"')
    })!
    await rm(join(folder, lost.file))
    cluster = await LocalCluster.start({
      participants: 3,
      storage: folder,
      onOutput: line => output.push(line),
    })
  }, LIMIT_MS)
  afterAll(async () => {
    await cluster?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const untilTaken = (lock: string, id: number) =>
    eventually(async () => {
      const { participants } = await askUntil(cluster.url, 'GET', lock)
      const { reachable, phase } = (participants as unknown as { reachable: boolean; phase: string }[])[
        id - 1
      ]!
      expect([reachable, ['joining', 'unborn'].includes(phase)]).toEqual([true, false])
    })

  it(
    'logs of different lengths, from different places, in different epochs become one again',
    async () => {
      const shared = told.shared!
      await expectKept(cluster.url, 'shared', shared)
      const fence = await expectGoesOn(cluster.url, 'shared', shared, shared.fence)
      // The one that is furthest behind has all of it.
      await expectKeptAt(3, fence)
      // An epoch ends with logs that are partly older than digests.
      await cluster.kill(1)
      await expectGoesOn(cluster.url, 'shared', shared, fence)
      await cluster.restart(1)
      await expectKeptAt(1, fence)
    },
    LIMIT_MS,
  )

  async function expectKeptAt(id: number, fence: number): Promise<void> {
    const { state } = await askUntil(cluster.url, 'GET', `shared/state?consistency=linearizable&at=${id}`)
    expect(state).toMatchObject(told.shared!.state)
    const { fence: next } = await askUntil(cluster.url, 'POST', `shared/transact`, {
      at: id,
      opId: `at-${id}`,
      ops: [{ increment: 'elsewhere' }],
      waitMs: 20_000,
    })
    expect(next).toBeGreaterThan(fence)
  }

  it(
    'a lock whose grant has expired is given to the next',
    async () => {
      const held = told.held!
      const grant = held.held as unknown as Granted
      await expectKept(cluster.url, 'held', held)
      await expectGoesOn(cluster.url, 'held', held, grant.fence)
      const late = await ask(cluster.url, 'POST', `held/grants/${grant.id}/ops`, {
        opId: 'late',
        ops: [{ increment: 'late' }],
      })
      expect(late.status).toBeGreaterThanOrEqual(400)
    },
    LIMIT_MS,
  )

  it(
    'a participant that has lost an older lock is taken back, and does not begin anew',
    async () => {
      const first = told.first!
      await expectKept(cluster.url, 'first', first)
      await untilTaken('first', 3)
      const { state } = await askUntil(cluster.url, 'GET', 'first/state?consistency=linearizable&at=3')
      expect(state).toMatchObject(first.state)
      await expectGoesOn(cluster.url, 'first', first, first.fence)
    },
    LIMIT_MS,
  )

  it(
    'a process that loses its storage afterwards is given back all of them',
    async () => {
      await cluster.kill(2)
      await wipe(2)
      await cluster.restart(2)
      for (const lock of Object.keys(told)) {
        await expectGoesOn(cluster.url, lock, told[lock]!, told[lock]!.fence)
        await untilTaken(lock, 2)
        const { state } = await askUntil(cluster.url, 'GET', `${lock}/state?consistency=linearizable&at=2`)
        expect(state).toMatchObject(told[lock]!.state)
      }
      expect(output.filter(line => line.includes('instance_over'))).toEqual([])
    },
    LIMIT_MS,
  )
})
