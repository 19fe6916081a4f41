/**
 * Fills one participant to its limits and prints how much more memory it holds than an empty one.
 * memory.test.ts runs it in a process of its own, with `--expose-gc`. Its storage is a file, as on the
 * platform; what watchers and sessions have not read is kept here as the platform would keep it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { Sink } from '../../worker/participant/runtime.ts'
import { SqlRows } from '../../worker/participant/sql-rows.ts'
import { Sqlite } from '../sqlite.ts'
import { MemoryPlatform } from './memory-platform.ts'
import { sqlDatabaseOf } from './sql-database.ts'

/** Letters that are two bytes in memory and three on the wire. */
const LONG = '\u4e00'.repeat(100_000)
const VALUES = Math.floor(API_LIMITS.stateWeight / (LONG.length + 100))

class UnreadSink implements Sink {
  private chunks: Uint8Array[] = []

  write(text: string): void {
    this.chunks.push(new TextEncoder().encode(text))
  }

  unreadBytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  }

  fail(): void {
    this.chunks = []
  }
}

function quickDatabase(file: string): Sqlite {
  const database = new Sqlite(file)
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
  return database
}

/** The size of everything reachable; the least of several measurements. */
async function held(): Promise<number> {
  const looks: number[] = []
  for (let look = 0; look < 5; look++) {
    await new Promise(resolve => setTimeout(resolve, 20))
    gc!()
    const { heapUsed, external } = process.memoryUsage()
    looks.push(heapUsed + external)
  }
  return Math.min(...looks)
}

const folder = mkdtempSync(join(tmpdir(), 'baton-memory-'))
const platform = new MemoryPlatform(1)
const node = platform.node(1)
Object.assign(node, { rows: new SqlRows(sqlDatabaseOf(quickDatabase(join(folder, 'storage.sqlite')))) })

let operations = 0
/** As they come: each read from a request of its own. */
const transact = (ops: object[], waitMs = 0) => {
  const opId = `op-${++operations}`
  return node.call({ type: 'transact', user: opId, opId, ops: JSON.parse(JSON.stringify(ops)), waitMs })
}

await transact([{ put: 'first', value: 1 }])
node.restart()
await node.call({ type: 'status' })
const before = await held()

// State, results and log.
for (let index = 0; index < VALUES; index++) await transact([{ put: `key-${index}`, value: LONG }])
const results: object[] = []
for (;;) {
  const at = results.length % (VALUES - 1)
  const answer = await transact([{ get: `key-${at}` }, { get: `key-${at + 1}` }])
  if (answer.type !== 'done') break
  results.push({})
}
for (let index = 0; index < VALUES; index++) await transact([{ put: `key-${index}`, value: LONG }])

// A new instance has read everything from storage: nothing is shared that would not be.
node.restart()
node.journal.length = 0

const sinks: UnreadSink[] = []
for (let index = 0; index < API_LIMITS.watchersPerParticipant; index++) {
  const sink = new UnreadSink()
  sinks.push(sink)
  await node.watch(sink, index % 2 === 0 ? null : 1)
}
// The whole state changes while watchers still read it as it was.
for (let index = 0; index < VALUES; index++) await transact([{ put: `key-${index}`, value: LONG }])

// The table of results is full: what a session reads again and again is one of them.
const reading = { opId: `op-${VALUES + 2}`, ops: [{ get: 'key-0' }, { get: 'key-1' }] }
for (let index = 0; index < API_LIMITS.sessionsPerParticipant; index++) {
  const socket = await node.session(`session-${index}`)
  // A queue of text, which is dropped when the socket is closed.
  const texts: string[] = []
  Object.assign(socket, {
    send: (text: string) => texts.push(text.slice(0, -1) + text.slice(-1)),
    close: () => texts.splice(0),
  })
  node.say(socket, { type: 'try' })
  node.say(socket, { type: 'issue', ...reading })
  node.say(socket, { type: 'exit' })
}

const acquire = { user: 'holder', waitMs: 0, ttlMs: 600_000, ticket: false, confirm: false } as const
const grant = await node.call({ type: 'acquire', ...acquire })
const waiting: Promise<unknown>[] = []
const inFlight = Math.floor(API_LIMITS.callsWeight / (LONG.length + 100))
for (let index = 0; index < inFlight; index++)
  waiting.push(transact([{ put: 'waiting', value: LONG }], 25_000).catch(() => null))

const status = await node.call({ type: 'status' })
const { gauges } = (status as unknown as { body: { gauges: { [name: string]: number } } }).body
const bytes = (await held()) - before
console.log(
  JSON.stringify({ bytes, grant: grant.type, results: results.length, ...gauges, waiting: waiting.length }),
)
rmSync(folder, { recursive: true })
process.exit(0)
