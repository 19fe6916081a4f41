/**
 * The steps from nothing to a lock in README.md, run as they are written. What would go to Cloudflare goes to
 * stand-ins for `npx` and `npm` instead, which write down what they were asked. The bundle that would have
 * been uploaded then runs with the secret that the reader is told to paste.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'
import { blocksOf, commandsOf, pageAt } from '../readme/markdown.ts'
import { type Ran, runCommands } from '../readme/shell.ts'
import { dryRun } from './wrangler.ts'

const DEPLOYED = 'https://baton.example.workers.dev'
/** How the page shortens a key. */
const SOME_KEY = 'baton_…'

const block = blocksOf(pageAt('README.md').text).find(
  ({ language, text }) => language === 'sh' && text.includes(DEPLOYED),
)!
const commands = commandsOf(block).map(({ command }) => command)
const steps = commands.filter(command => !command.includes(DEPLOYED))
const calls = commands.filter(command => command.includes(DEPLOYED))

/** On a machine that has other things to do. */
const READY_MS = 120_000

let folder: string
let asked: string[]
let key: string
let running: RunningWorkerd

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-steps-'))
  for (const name of ['npx', 'npm']) standIn(name)
  const ran = await runCommands(steps, { PATH: folder + delimiter + process.env.PATH })
  expect(ran.filter(({ status }) => status !== 0)).toEqual([])
  asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n')
  const printed = ran.map(({ output }) => output).join('')
  key = /^key +(\S+)$/m.exec(printed)![1]!
  running = await startWorkerd({
    script: dryRun().script,
    storage: join(folder, 'storage'),
    port: 0,
    variables: { BATON_KEYS: `[${/^entry +(.*)$/m.exec(printed)![1]!}]` },
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
    // The command line of this project asks nobody outside, so it is run.
    `case "$*" in "run --silent baton -- "*) PATH='${process.env.PATH}' exec ${name} "$@";; esac`,
    `echo "${name} $*" >> '${folder}/asked'`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  chmodSync(file, 0o755)
}

async function call(command: string, withKey = key): Promise<Ran> {
  const here = command.replaceAll(DEPLOYED, running.url).replaceAll(SOME_KEY, withKey)
  return (await runCommands([here]))[0]!
}

describe('from nothing to a lock', () => {
  it('asks wrangler for what it takes, in this order', () => {
    expect(asked).toEqual(['npx wrangler login', 'npm run deploy', 'npx wrangler secret put BATON_KEYS'])
  })

  it('ends with a lock that is used with the key', async () => {
    expect(calls.length).toBeGreaterThan(0)
    for (const command of calls) {
      expect(command).toContain(SOME_KEY)
      expect(await call(command)).toMatchObject({
        status: 0,
        output: expect.stringMatching(/^revision \d+\n$/),
      })
    }
  })

  it('would not work with another key', async () => {
    expect(await call(calls[0]!, `${key}x`)).toMatchObject({ status: 1, output: '' })
  })
})
