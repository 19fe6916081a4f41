/** The client on every Node that is there, as plain JavaScript, against the real service: sessions too. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_LIMIT_MS, useService } from './harness.ts'

const service = useService()

/** By version: this one, and those on the path. */
const nodes = new Map(
  [process.execPath, ...(process.env.PATH ?? '').split(delimiter).map(folder => join(folder, 'node'))]
    .filter(file => existsSync(file))
    .map(file => [execFileSync(file, ['--version'], { encoding: 'utf8' }).trim(), file] as const),
)

const SCRIPT = `
import { createBaton } from './client.mjs'
if (process.argv[4] === 'without') delete globalThis.WebSocket
const lock = createBaton({ url: process.argv[2] }).lock(process.argv[3])
const told = []
await using session = lock.session()
session.try({ waitMs: 20_000 })
for await (const event of session) {
  told.push(event.type)
  if (event.type === 'crit') session.issue([{ put: 'big', value: 'x'.repeat(100_000) }, { get: 'big' }])
  if (event.type === 'outcome') told.push(event.results[1].value.length)
  if (event.type === 'outcome') session.exit()
  if (event.type === 'rem') break
}
await lock.run(async held => told.push((await held.get('big')).value.length))
console.log(JSON.stringify(told))
`.replace('await using session', 'const session')

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-test-'))
  const entryPoint = fileURLToPath(new URL('../../client/index.ts', import.meta.url))
  const shared = { bundle: true, format: 'esm', platform: 'neutral', target: 'es2022' } as const
  await build({
    ...shared,
    entryPoints: [entryPoint],
    outfile: join(folder, 'client.mjs'),
    logLevel: 'error',
  })
  await writeFile(join(folder, 'script.mjs'), `${SCRIPT}\nsession.close()\n`)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each([...nodes.keys()])('Node %s', version => {
  it.each(['as it is', 'without'])(
    'holds a lock by a session (%s)',
    { timeout: TEST_LIMIT_MS },
    async how => {
      const lock = service.lock()
      const script = join(folder, 'script.mjs')
      const run = promisify(execFile)(nodes.get(version)!, [script, service.url, lock.name, how])
      const { stdout } = await run
      expect(JSON.parse(stdout)).toEqual(['crit', 'outcome', 100_000, 'rem', 100_000])
    },
  )
})
