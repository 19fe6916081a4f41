/**
 * One suite for every implementation of `Rows`: in memory, on SQLite in Node, and on the SQLite of a Durable
 * Object.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../../worker/local/build.ts'
import { type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'
import { SqlRows } from '../../worker/participant/sql-rows.ts'
import { Sqlite } from '../sqlite.ts'
import { MemoryRows } from './memory-rows.ts'
import { ROWS_CONTRACT } from './rows-contract.ts'
import { sqlDatabaseOf } from './sql-database.ts'

const cases = ROWS_CONTRACT.map(({ name }, index) => [name, index] as const)

describe('in memory', () => {
  it.each(cases)('%s', (_, index) => {
    const rows = new MemoryRows()
    ROWS_CONTRACT[index]!.run(rows, () => rows)
  })
})

describe('on SQLite in Node', () => {
  it.each(cases)('%s', (_, index) => {
    const database = sqlDatabaseOf(new Sqlite())
    ROWS_CONTRACT[index]!.run(new SqlRows(database), () => new SqlRows(database))
  })
})

describe('on the SQLite of a Durable Object', () => {
  let folder: string
  let running: RunningWorkerd

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-test-'))
    const script = await bundle(fileURLToPath(new URL('rows-worker.ts', import.meta.url)))
    running = await startWorkerd({ script, storage: join(folder, 'storage'), port: 0, variables: {} })
  })

  afterAll(async () => {
    await running.stop('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  it.each(cases)('%s', async (_, index) => {
    const response = await fetch(`${running.url}/${index}`)
    expect(await response.text()).toBe('kept')
  })
})
