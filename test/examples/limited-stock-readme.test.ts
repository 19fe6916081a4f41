/**
 * The README of examples/limited-stock, command by command; and what the shop says when its key is wrong, or
 * the lock busy.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { blocksOf, commandsOf, differencesOfShape, pageAt, ROOT } from '../readme/markdown.ts'
import { runCommands } from '../readme/shell.ts'
import { startWorker } from './workers.ts'

const [BATON, SHOP] = ['http://127.0.0.1:8787', 'http://127.0.0.1:8788']
const READY_MS = 120_000
const readme = pageAt('examples/limited-stock/README.md')
const blocks = blocksOf(readme.text).filter(({ language }) => language === 'sh')

let baton: Awaited<ReturnType<typeof startWorker>>

beforeAll(async () => {
  baton = await startWorker('worker/index.ts', { BATON_OPEN: 'true' })
}, READY_MS)
afterAll(() => baton?.[Symbol.asyncDispose]())

/** What `npm run example` starts, with these variables. */
async function startShop(variables: { readonly [name: string]: string }) {
  const scripts = (await import('../../package.json', { with: { type: 'json' } })).default.scripts
  const [command, ...rest] = scripts.example.split(' ')
  expect(command).toBe('node')
  const child: ChildProcess = spawn(process.execPath, rest, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  const errors: string[] = []
  child.stderr!.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
  await new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`ended with ${code}: ${errors.join('')}`)))
    child.stdout!.on('data', (chunk: Buffer) => {
      printed += chunk
      if (printed.includes('\n')) resolve()
    })
  })
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)![0]
  const stop = async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { url, errors, stop }
}

describe('the README', () => {
  it('starts Baton and the shop with scripts that there are', () => {
    const { scripts } = JSON.parse(pageAt('package.json').text) as { scripts: object }
    for (const [, script] of readme.text.matchAll(/^npm (?:run )?(\w+)$/gm))
      expect(scripts).toHaveProperty(script!)
  })

  it('tells the truth about every command', async () => {
    const shop = await startShop({ BATON_URL: baton.url })
    try {
      const commands = blocks.filter(({ text }) => text.includes('127.0.0.1')).flatMap(commandsOf)
      expect(commands.length).toBeGreaterThanOrEqual(5)
      const ran = await runCommands(
        commands.map(({ command }) => command.replaceAll(BATON, baton.url).replaceAll(SHOP, shop.url)),
      )
      for (const [index, { answer, command }] of commands.entries()) {
        const { status, output } = ran[index]!
        expect(status, command).toBe(0)
        if (answer === undefined) continue
        expect(differencesOfShape(answer, JSON.parse(output)), `${command}\n${output}`).toEqual([])
      }
      expect(JSON.parse(ran[2]!.output)).toEqual({ left: 19 })
    } finally {
      await shop.stop()
    }
  })
})

describe('the shop', () => {
  const buy = async (url: string) => {
    const response = await fetch(`${url}/buy?buyer=ann`, { method: 'POST' })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  it('says that a wrong key is not the buyer’s fault, and why in its log', async () => {
    const closed = await startWorker('worker/index.ts', {})
    const shop = await startShop({ BATON_URL: closed.url, BATON_KEY: 'wrong' })
    try {
      const { status, headers, body } = await buy(shop.url)
      expect([status, headers.get('retry-after')]).toEqual([500, null])
      expect(body).toMatchObject({ because: 'unauthenticated' })
      await expect
        .poll(() => shop.errors.join(''), { timeout: READY_MS })
        .toContain("The shop's BATON_KEY is wrong")
    } finally {
      await shop.stop()
      await closed[Symbol.asyncDispose]()
    }
  })

  it('asks a buyer to come again while the lock is busy', async () => {
    const shop = await startShop({ BATON_URL: baton.url })
    const held = await createBaton({ url: baton.url }).lock('tickets').acquire({ ttlMs: 60_000 })
    try {
      const { status, headers, body } = await buy(shop.url)
      expect([status, headers.get('retry-after')]).toEqual([503, '1'])
      expect(body).toEqual({ askAgain: true, because: 'locked' })
    } finally {
      await held.release()
      await shop.stop()
    }
  })
})
