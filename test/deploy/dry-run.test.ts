/** What `npm run deploy` would upload is complete, small enough, and runs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { COMPATIBILITY_DATE, type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'
import { type DryRun, dryRun, ROOT, withoutNetwork } from './wrangler.ts'

/** Compressed, on the free plan; later the limit became 64 MiB uncompressed. See docs/deploy.md. */
const LIMIT_BYTES = 3_000_000

/** On a machine that has other things to do. */
const READY_MS = 120_000

let made: DryRun
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-deploy-'))
  made = dryRun()
}, READY_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const configurationIn = (file: string) => unstable_readConfig({ config: file }, { hideWarnings: true })

/** A copy of wrangler.toml with a mistake. */
function spoilt(from: string | RegExp, to: string): string {
  const text = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
  const changed = text
    .replace(from, to)
    .replace('"worker/index.ts"', JSON.stringify(join(ROOT, 'worker/index.ts')))
    .replace('"page/built"', JSON.stringify(join(ROOT, 'page/built')))
  const file = join(folder, `wrangler-${Math.random()}.toml`)
  writeFileSync(file, changed)
  return file
}

function mistakesOf({ status, output, errors, script, compressedBytes }: DryRun): string[] {
  if (status !== 0) return [`wrangler ended with status ${status}: ${output}${errors}`]
  const said = output + errors
  const mistakes: string[] = []
  if (/WARNING|ERROR/.test(said)) mistakes.push(`wrangler is not content: ${said}`)
  if (said.includes('network access')) mistakes.push(`wrangler wanted to leave: ${errors}`)
  if (!/^env\.PARTICIPANT \(BatonParticipant\) +Durable Object/m.test(output))
    mistakes.push('no durable object')
  if (!/export \{[^}]*\bBatonParticipant\b[^}]*\}/.test(script)) mistakes.push('the class is not exported')
  if (compressedBytes > LIMIT_BYTES) mistakes.push(`${compressedBytes} bytes are too many`)
  return mistakes
}

function mistakesInConfiguration(file: string): string[] {
  const { migrations, durable_objects, compatibility_date, observability, vars } = configurationIn(file)
  const classes = migrations.flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes)
  const bindings: { class_name: string }[] = durable_objects.bindings
  const bound = bindings.map(({ class_name }) => class_name)
  return [
    ...(bound.length === 0 ? ['no class is bound'] : []),
    ...bound.filter(name => !classes.includes(name)).map(name => `${name} has no SQLite storage`),
    ...(compatibility_date === COMPATIBILITY_DATE
      ? []
      : [`${compatibility_date} is not what the tests run with`]),
    ...(observability?.enabled ? [] : ['nobody observes']),
    ...(Array.isArray(JSON.parse(String(vars.BATON_PARTICIPANTS))) ? [] : ['no participants']),
  ]
}

describe('npm run deploy -- --dry-run', () => {
  it('makes a bundle with the durable object, without complaint and without a network', () => {
    expect(mistakesOf(made)).toEqual([])
    const { script, compressedBytes } = made
    console.log(`the bundle: ${script.length} bytes, compressed ${compressedBytes} of at most ${LIMIT_BYTES}`)
  })

  it('declares its SQLite storage, and agrees with what is tested', () => {
    expect(mistakesInConfiguration(join(ROOT, 'wrangler.toml'))).toEqual([])
  })
})

describe('the bundle', () => {
  let running: RunningWorkerd

  beforeAll(async () => {
    running = await startWorkerd({
      script: made.script,
      storage: join(folder, 'storage'),
      port: 0,
      variables: {},
    })
  }, READY_MS)
  afterAll(() => running?.stop())

  it('runs, and refuses everything until there is a key', async () => {
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
    const response = await fetch(`${running.url}/v1/locks/demo`)
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      detail: expect.stringContaining('wrangler secret put BATON_KEYS'),
    })
  })
})

describe('these tests', () => {
  it('find a class that is not there', () => {
    expect(mistakesOf(dryRun(['-c', spoilt('"BatonParticipant"', '"BatonParticipants"')]))[0]).toContain(
      'BatonParticipants',
    )
  })

  it('find a key that wrangler does not know', () => {
    expect(mistakesOf(dryRun(['-c', spoilt('preview_urls', 'preview_url')]))[0]).toContain('preview_url')
  })

  it('find a mistake in what was made', () => {
    expect(mistakesOf({ ...made, compressedBytes: LIMIT_BYTES + 1 })).toEqual(['3000001 bytes are too many'])
    expect(mistakesOf({ ...made, script: 'export { worker as default };' })).toEqual([
      'the class is not exported',
    ])
    expect(mistakesOf({ ...made, errors: 'network access: example.com' })).toHaveLength(1)
  })

  it('find a mistake in the configuration', () => {
    expect(mistakesInConfiguration(spoilt('new_sqlite_classes', 'new_classes'))).toEqual([
      'BatonParticipant has no SQLite storage',
    ])
    expect(mistakesInConfiguration(spoilt(COMPATIBILITY_DATE, '2026-01-01'))).toHaveLength(1)
    expect(
      mistakesInConfiguration(spoilt('[observability]\nenabled = true', '[observability]\nenabled = false')),
    ).toEqual(['nobody observes'])
  })

  it('find a way out', () => {
    const { stderr } = withoutNetwork('node -e "fetch(\'https://example.com\')"', folder)
    expect(stderr).toContain('network access: example.com')
  })
})
