/**
 * What commit d204fbb left on disk, and what it had told its clients. `make-fixture.ts` ran that commit's
 * service on workerd, and wrote down the rows of every participant.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import type { Json } from '../../shared/json.ts'
import { Sqlite } from '../sqlite.ts'

const FILE = new URL('./d204fbb.json.br', import.meta.url)

export interface Fixture {
  /** One process with three participants, as `npm start` runs them. */
  readonly start: Deployment
  /** A process for each participant, as `npm run cluster` runs them. */
  readonly cluster: Deployment
}

export interface Deployment {
  /** The ports of the processes when the fixture was made; they are part of the locks' configurations. */
  readonly ports: readonly number[]
  readonly objects: readonly StoredObject[]
  readonly told: { readonly [lock: string]: Told }
}

/** The storage of one Durable Object. */
export interface StoredObject {
  /** Below the folder of the storage. */
  readonly file: string
  readonly records: readonly (readonly [key: string, value: string])[]
  readonly events: readonly (readonly [id: number, sequence: number, body: string])[]
}

/** What clients were told of a lock. */
export interface Told {
  readonly protocol: string
  readonly participants: number
  /** The highest fence that anybody was given. */
  readonly fence: number
  /** The grant that nobody has given back, if there is one. */
  readonly held: Json
  readonly state: { readonly [key: string]: Json }
  /** Some operations, with the answers to them. */
  readonly operations: readonly { readonly opId: string; readonly ops: Json; readonly answer: Json }[]
}

export const readFixture = (): Fixture =>
  JSON.parse(brotliDecompressSync(readFileSync(FILE)).toString()) as Fixture

export function writeFixture(fixture: Fixture): number {
  const compressed = brotliCompressSync(JSON.stringify(fixture))
  writeFileSync(FILE, compressed)
  return compressed.length
}

/** The tables as commit d204fbb made them. */
const TABLES = `
  CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE events (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL);
`

export interface Restoring {
  /** They take the place of the ports that the fixture was made with. */
  readonly ports?: readonly number[]
  /** Grants that were held then last until this time. Default: until the time that they were given. */
  readonly heldUntil?: number
}

/** Puts the storage back into this folder. */
export function restore(deployment: Deployment, folder: string, restoring: Restoring = {}): void {
  for (const object of deployment.objects) {
    const path = join(folder, object.file)
    mkdirSync(dirname(path), { recursive: true })
    const database = new Sqlite(path)
    database.exec(`PRAGMA journal_mode = DELETE; ${TABLES} BEGIN;`)
    for (const [key, value] of recordsOf(object, deployment, restoring))
      database.all('INSERT INTO records VALUES (?, ?)', key, value)
    for (const row of object.events) database.all('INSERT INTO events VALUES (?, ?, ?)', ...row)
    database.exec('COMMIT')
    database.close()
  }
}

export function recordsOf(
  { records }: StoredObject,
  { ports: made }: Deployment,
  { ports = [], heldUntil }: Restoring = {},
): Map<string, string> {
  const isHolder = (key: string) => key === 'stub' || key.startsWith('holder/')
  const changed = records.map(([key, value]) => {
    const held =
      heldUntil !== undefined && isHolder(key)
        ? value.replaceAll(/"expiresAt":\d+/g, `"expiresAt":${heldUntil}`)
        : value
    const text = ports.reduce(
      (before, port, index) => before.replaceAll(`127.0.0.1:${made[index]}`, `127.0.0.1:${port}`),
      held,
    )
    return [key, text] as const
  })
  return new Map(changed)
}
