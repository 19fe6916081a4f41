/** The README of examples/mailing, command by command. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { slotOf } from '../../recipes/index.ts'
import { blocksOf, commandsOf, pageAt, ROOT } from '../readme/markdown.ts'
import { runCommands } from '../readme/shell.ts'
import { startWorker } from './workers.ts'

const MAILING = 'http://127.0.0.1:8790'
const READY_MS = 120_000
const readme = pageAt('examples/mailing/README.md')

let baton: Awaited<ReturnType<typeof startWorker>>

beforeAll(async () => {
  baton = await startWorker('worker/index.ts', { BATON_OPEN: 'true' })
}, READY_MS)
afterAll(() => baton?.[Symbol.asyncDispose]())

/** What `npm run mailing` starts. */
async function startMailing() {
  const { scripts } = JSON.parse(pageAt('package.json').text) as { scripts: { mailing: string } }
  const [command, ...rest] = scripts.mailing.split(' ')
  expect(command).toBe('node')
  const child: ChildProcess = spawn(process.execPath, rest, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', BATON_URL: baton.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`ended with ${code}: ${printed}`)))
    child.stdout!.on('data', (chunk: Buffer) => {
      printed += chunk
      if (printed.includes('\n')) resolve()
    })
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { url: /http:\/\/127\.0\.0\.1:\d+/.exec(printed)![0], stop }
}

it('tells the truth about every command', async () => {
  const commands = blocksOf(readme.text)
    .filter(({ language, text }) => language === 'sh' && text.includes('127.0.0.1'))
    .flatMap(commandsOf)
  expect(commands).toHaveLength(5)
  const mailing = await startMailing()
  try {
    const ran = await runCommands(commands.map(({ command }) => command.replaceAll(MAILING, mailing.url)))
    for (const [index, { answer, command }] of commands.entries()) {
      expect(ran[index]!.status, command).toBe(0)
      expect(JSON.parse(ran[index]!.output), command).toEqual(answer)
    }
    const wrong = await fetch(`${mailing.url}/mails?to=`, { method: 'POST' })
    expect(wrong.status).toBe(404)
  } finally {
    await mailing.stop()
  }
})

it('has one round for each minute', async () => {
  const mailing = await startMailing()
  const round = async () => {
    const response = await fetch(`${mailing.url}/round`, { method: 'POST' })
    return { minute: slotOf(Date.now(), 60_000), answer: await response.json() }
  }
  try {
    const [one, other] = [await round(), await round()]
    if (one!.minute === other!.minute) expect(other!.answer).toEqual({ ran: false, because: 'done' })
  } finally {
    await mailing.stop()
  }
})
