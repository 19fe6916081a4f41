/**
 * The steps from nothing to a lock in README.md, run as they are written. What would go to Cloudflare goes to
 * stand-ins for `npx` and `npm` instead: they write down what they were asked, and the secret that was put.
 * The bundle that would have been uploaded then runs with that secret.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'
import { blocksOf, commandsOf, differencesOfShape, pageAt } from '../readme/markdown.ts'
import { runCommands } from '../readme/shell.ts'
import { dryRun } from './wrangler.ts'

const DEPLOYED = 'https://baton.example.workers.dev'
const blocks = blocksOf(pageAt('README.md').text).filter(
  ({ language, text }) => language === 'sh' && text.includes(DEPLOYED),
)
const commands = blocks.flatMap(commandsOf)
const steps = commands.filter(({ command }) => !command.startsWith('curl'))
const calls = commands.filter(({ command }) => command.startsWith('curl'))

/** On a machine that has other things to do. */
const READY_MS = 120_000

let folder: string
let asked: string[]
let key: string
let running: RunningWorkerd

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-steps-'))
  for (const name of ['npx', 'npm']) standIn(name)
  const path = folder + delimiter + process.env.PATH
  const ran = await runCommands([...steps.map(({ command }) => command), 'printf %s "$key"'], { PATH: path })
  expect(ran.filter(({ status }) => status !== 0)).toEqual([])
  asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n')
  key = ran.at(-1)!.output
  running = await startWorkerd({
    script: dryRun().script,
    storage: join(folder, 'storage'),
    port: 0,
    variables: { BATON_KEYS: readFileSync(join(folder, 'secret'), 'utf8') },
  })
}, READY_MS)
afterAll(async () => {
  await running?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function standIn(name: string): void {
  const file = join(folder, name)
  const lines = [
    '#!/bin/sh',
    // What makes a key does so here as well.
    `case "$*" in "run --silent baton -- "*) shift 4; exec '${process.execPath}' cli/main.ts "$@";; esac`,
    `echo "${name} $*" >> '${folder}/asked'`,
    `case "$*" in *"secret put"*) cat > '${folder}/secret';; esac`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  chmodSync(file, 0o755)
}

async function call(command: string, withKey = key) {
  const [ran] = await runCommands([command.replaceAll(DEPLOYED, running.url)], { key: withKey })
  expect(ran!.status, ran!.errors).toBe(0)
  return JSON.parse(ran!.output) as { code?: string }
}

describe('from nothing to a lock', () => {
  it('asks wrangler for what it takes, in this order', () => {
    expect(asked).toEqual(['npx wrangler login', 'npm run deploy', 'npx wrangler secret put BATON_KEYS'])
  })

  it('ends with a lock that is used with the key', async () => {
    expect(calls.length).toBeGreaterThan(0)
    for (const { command, answer } of calls) {
      expect(answer).toBeDefined()
      expect(differencesOfShape(answer, await call(command))).toEqual([])
    }
  })

  it('would not work with another key', async () => {
    expect(await call(calls[0]!.command, `${key}x`)).toMatchObject({ code: 'unauthenticated' })
  })
})
