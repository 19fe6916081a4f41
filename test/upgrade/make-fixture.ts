/**
 * Makes test/upgrade/d204fbb.json.br: runs the service of commit d204fbb, uses it, kills it, and keeps what
 * is on its disk.
 *
 *   git worktree add ../d204fbb d204fbb && npm ci --prefix ../d204fbb
 *   node test/upgrade/make-fixture.ts ../d204fbb
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Json } from '../../shared/json.ts'
import { rowsOfCopy } from '../sqlite.ts'
import { type Deployment, type StoredObject, type Told, writeFixture } from './fixture.ts'

const checkout = resolve(process.argv[2] ?? '')
const from = (path: string) => import(pathToFileURL(join(checkout, path)).href)
const { bundle } = await from('worker/local/build.ts')
const { startWorkerd } = await from('worker/local/workerd.ts')
const { LocalCluster } = await from('worker/local/cluster.ts')

/** Few steps of history are kept, to keep the fixture small. */
const VARIABLES = { BATON_EVENTS_KEPT: '16' }
/** As long as a grant may last. */
const HELD_MS = 600_000
/** So many that the log has been cut. */
const MANY = 800

type Answer = { [member: string]: Json }

class Client {
  readonly told: { [lock: string]: Told } = {}
  private readonly url: string

  constructor(url: string) {
    this.url = url
  }

  async ask(method: string, path: string, body?: Json): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await fetch(`${this.url}/v1/locks/${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (answer.ok) return text === '' ? {} : (JSON.parse(text) as Answer)
      if (attempt === 20) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
      await new Promise(done => setTimeout(done, 250))
    }
  }

  async configure(lock: string, protocol: string, participants?: Json): Promise<void> {
    await this.ask('PUT', lock, { protocol, ...(participants !== undefined && { participants }) })
    const count = participants === undefined ? 3 : (participants as Json[]).length
    this.told[lock] = { protocol, participants: count, fence: 0, held: null, state: {}, operations: [] }
  }

  async transact(lock: string, opId: string, ops: Json, isKept = true): Promise<void> {
    const answer = await this.ask('POST', `${lock}/transact`, { opId, ops, waitMs: 10_000 })
    const told = this.told[lock]!
    this.told[lock] = {
      ...told,
      fence: Math.max(told.fence, answer.fence as number),
      operations: isKept ? [...told.operations, { opId, ops, answer }] : told.operations,
    }
  }

  async acquire(lock: string, keep: boolean): Promise<void> {
    const { grant } = (await this.ask('POST', `${lock}/acquire`, { ttlMs: HELD_MS, waitMs: 10_000 })) as {
      grant: { id: string; fence: number }
    }
    const told = this.told[lock]!
    this.told[lock] = { ...told, fence: Math.max(told.fence, grant.fence), held: keep ? grant : null }
    if (!keep) await this.ask('DELETE', `${lock}/grants/${grant.id}`)
  }

  async eject(lock: string): Promise<void> {
    await this.ask('POST', `${lock}/eject`, {})
  }

  async readState(lock: string): Promise<void> {
    const { state } = (await this.ask('GET', `${lock}/state?consistency=linearizable`)) as {
      state: { [key: string]: Json }
    }
    this.told[lock] = { ...this.told[lock]!, state }
  }
}

function objectsBelow(folder: string): StoredObject[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.sqlite'),
  )
  return files.sort().flatMap(file => {
    const path = join(folder, file)
    const tables = rowsOfCopy(path, "SELECT name FROM sqlite_master WHERE type = 'table'").map(
      ({ name }) => name,
    )
    if (!tables.includes('records')) return []
    return [
      {
        file,
        records: rowsOfCopy(path, 'SELECT key, value FROM records ORDER BY key').map(
          ({ key, value }) => [key, value] as [string, string],
        ),
        events: rowsOfCopy(path, 'SELECT id, sequence, body FROM events ORDER BY id').map(
          ({ id, sequence, body }) => [id, sequence, body] as [number, number, string],
        ),
      },
    ]
  })
}

async function inFolder(run: (folder: string) => Promise<Deployment>): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-fixture-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

// ---------------------------------------------------------------- one process

const start = await inFolder(async folder => {
  const script = await bundle(join(checkout, 'worker/index.ts'))
  const service = await startWorkerd({
    script,
    storage: folder,
    port: 0,
    variables: { ...VARIABLES, BATON_OPEN: 'true' },
  })
  const client = new Client(service.url)
  for (const protocol of ['wme-1', 'wme-2', 'wme-consensus', 'ricart-agrawala', 'maekawa']) {
    const guards = protocol.startsWith('wme')
    for (const lock of [`free-${protocol}`, `held-${protocol}`]) {
      await client.configure(lock, protocol)
      if (guards) {
        for (let number = 1; number <= 5; number++)
          await client.transact(lock, `op-${number}`, [
            { increment: 'visits' },
            { append: 'list', value: number },
          ])
        await client.eject(lock)
        await client.transact(lock, 'op-6', [{ put: 'after', value: { epoch: 'second' } }])
      }
      await client.acquire(lock, false)
      if (guards) await client.readState(lock)
      await client.acquire(lock, lock.startsWith('held'))
    }
  }
  await client.configure('alone', 'wme-2', [{ location: 'weur' }])
  await client.transact('alone', 'only', [{ increment: 'visits' }])
  await client.readState('alone')
  await service.stop('SIGKILL')
  return { ports: [], objects: objectsBelow(folder), told: client.told }
})

// ---------------------------------------------------------------- a process for each participant

const cluster = await inFolder(async folder => {
  const running = await LocalCluster.start({ participants: 3, storage: folder, variables: VARIABLES })
  const client = new Client(running.url)
  const add = async (lock: string, first: number, last: number) => {
    for (let number = first; number <= last; number++)
      await client.transact(lock, `n-${number}`, [{ increment: 'visits' }], number <= 5 || number > MANY)
  }
  await client.configure('shared', 'wme-2')
  await client.configure('first', 'wme-1')
  await client.configure('held', 'wme-2')
  await add('shared', 1, 5)
  await add('first', 1, 3)
  await add('held', 1, 2)
  await client.acquire('held', true)
  // The third misses so much that it gets a snapshot: its log begins elsewhere than those of the others.
  await running.kill(3)
  await add('shared', 6, MANY)
  await running.restart(3)
  await add('shared', MANY + 1, MANY + 20)
  // The owner is killed, and the next one: two epochs end.
  await running.kill(1)
  await add('shared', MANY + 21, MANY + 23)
  await running.restart(1)
  await add('shared', MANY + 24, MANY + 25)
  await running.kill(2)
  await add('shared', MANY + 26, MANY + 28)
  await running.restart(2)
  await add('shared', MANY + 29, MANY + 30)
  // The third misses the rest.
  await running.kill(3)
  await add('shared', MANY + 31, MANY + 34)
  for (const lock of ['shared', 'first', 'held']) await client.readState(lock)
  const ports = [1, 2, 3].map(id => running.member(id).port as number)
  for (const id of [1, 2]) await running.kill(id)
  await running.router.stop('SIGKILL')
  return { ports, objects: objectsBelow(folder), told: client.told }
})

const bytes = writeFixture({ start, cluster })
console.log(`${start.objects.length + cluster.objects.length} objects, ${bytes} bytes`)
process.exit(0)
