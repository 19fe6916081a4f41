/**
 * `npm start` and `npm run cluster`, however they end, leave no process behind; and no two of them share a
 * storage folder.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { isHarmless } from '../../worker/local/harmless.ts'
import { lockStorage, type StorageLock } from '../../worker/local/storage-lock.ts'
import { runCommands } from '../readme/shell.ts'
import { eventually } from '../service/eventually.ts'
import { ROOT } from './wrangler.ts'

let folder: string
const launched: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-launcher-'))
})
afterEach(async () => {
  for (const child of launched.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

interface Launched {
  readonly child: ChildProcess
  readonly said: () => string
}

/** Resolves when it has said that it is there, or has ended. */
async function launch(
  command: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Launched> {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', BATON_STORAGE: join(folder, 'storage'), ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  launched.push(child)
  let said = ''
  const ready = new Promise<void>(resolve => {
    const keep = (chunk: Buffer) => {
      said += chunk
      if (/^(Baton|The shop|The mailing) is at/m.test(said)) resolve()
    }
    child.stdout!.on('data', keep)
    child.stderr!.on('data', keep)
  })
  await Promise.race([ready, once(child, 'exit')])
  return { child, said: () => said }
}

const JSON_BODY = { 'content-type': 'application/json' }
const start = ['worker/local/start.ts']
const urlIn = (text: string): string => /Baton is at (http:\S+\d)/.exec(text)![1]!
const cluster = () => ['worker/local/run-cluster.ts', '--port', '0', '--storage', join(folder, 'cluster')]

const allProcesses = () =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(row => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row)!)
    .map(([, own, parent, command]) => ({ own: Number(own), parent: Number(parent), command: command! }))

/** All processes below this one whose command has this word. */
function below(pid: number, word: string): number[] {
  const rows = allProcesses()
  const children = (parent: number): typeof rows =>
    rows.filter(row => row.parent === parent).flatMap(row => [row, ...children(row.own)])
  return children(pid)
    .filter(({ command }) => command.includes(word))
    .map(({ own }) => own)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The port as `npm start` would have it; what listens there is no matter. */
async function takenPort(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, server }
}

const allGone = (pids: readonly number[]) => eventually(() => expect(pids.filter(isAlive)).toEqual([]))

describe('a launcher that is killed leaves nobody behind:', () => {
  it.each([
    ['npm start', () => start, 1],
    ['npm run cluster', cluster, 4],
  ])('%s', async (_, args, processes) => {
    const { child } = await launch(process.execPath, args())
    const runtimes = below(child.pid!, 'workerd')
    expect(runtimes).toHaveLength(processes)
    child.kill('SIGKILL')
    await allGone(runtimes)
  })

  it('npm start, before it has told anybody that its runtime is there', async () => {
    const { child } = await launch(
      process.execPath,
      ['--import', './test/deploy/killed-early.mjs', ...start],
      {
        TMPDIR: folder,
      },
    )
    expect(child.signalCode).toBe('SIGKILL')
    await eventually(() =>
      expect(allProcesses().filter(({ command }) => command.includes(folder))).toEqual([]),
    )
  })

  it('npm itself', async () => {
    // As npm does it: a shell in between, and a name for the script.
    const script = `const { spawn } = require('node:child_process')
      spawn('sh', ['-c', '"$0" worker/local/start.ts; true', process.execPath], { stdio: 'inherit' })`
    const { child } = await launch(process.execPath, ['-e', script], { npm_lifecycle_event: 'start' })
    const runtimes = below(child.pid!, 'workerd')
    expect(runtimes).toHaveLength(1)
    const all = [...runtimes, ...below(child.pid!, 'start.ts')]
    child.kill('SIGKILL')
    await allGone(all)
  })
})

describe('a mistake in a variable stops a launcher before it starts anything:', () => {
  it.each([
    ['BATON_PROTOCOL', 'wme2', 'is none of wme-1, wme-2,'],
    ['BATON_PARTICIPANTS', '[{"location": "europe"}]', 'is not a JSON list of {location, url}: 0.location'],
    ['BATON_EVENTS_KEPT', 'many', 'is not a whole number'],
    ['BATON_CORS_ORIGINS', '*', 'is *, and BATON_OPEN asks nobody for a key'],
    ['BATON_KEYS', '[{}]', 'is not a list of keys: 0.name is missing'],
    ['PORT', 'http', 'is not a whole number'],
  ])('npm start with %s=%s', async (name, value, mistake) => {
    const { child, said } = await launch(process.execPath, start, { [name]: value })
    expect(said()).toContain(`Baton did not start: ${name} ${mistake}`)
    expect(child.exitCode).toBe(2)
    expect(existsSync(join(folder, 'storage'))).toBe(false)
  })

  it('npm start with keys that nobody needs: it says what to set', async () => {
    const { said } = await launch(process.execPath, start, { BATON_KEYS: '[]', BATON_OPEN: 'true' })
    expect(said()).toContain('BATON_KEYS is set, and BATON_OPEN lets everybody in: set BATON_OPEN=false.')
  })

  it('npm run cluster with a protocol that there is not', async () => {
    const { child, said } = await launch(process.execPath, [...cluster(), '--protocol', 'wme2'])
    expect(said()).toContain('The cluster could not start: BATON_PROTOCOL is none of wme-1, wme-2,')
    expect(child.exitCode).toBe(2)
  })
})

describe('a mistake in the arguments is one line:', () => {
  it.each([
    [['--port', 'abc'], '--port is not a whole number from 0 to 65535.'],
    [['--port', '99999'], '--port is not a whole number from 0 to 65535.'],
    [['--port='], '--port is not a whole number from 0 to 65535.'],
    [['--port', '-1'], "Option '--port' argument is ambiguous."],
    [['--foo'], "Unknown option '--foo'."],
    [['stray'], "Unexpected argument 'stray'."],
    [['--participants', '14'], '--participants is not a whole number from 1 to 13.'],
  ])('npm run cluster -- %j', async (args, mistake) => {
    const { child, said } = await launch(process.execPath, ['worker/local/run-cluster.ts', ...args])
    expect(said()).toMatch(/^The cluster did not start: .*\n$/)
    expect(said()).toContain(mistake)
    expect(child.exitCode).toBe(2)
  })

  it('PORT=abc npm run cluster', async () => {
    const { child, said } = await launch(process.execPath, cluster().slice(0, 1), { PORT: 'abc' })
    expect(said()).toContain('PORT is not a whole number from 0 to 65535.')
    expect(child.exitCode).toBe(2)
  })
})

describe('a launcher that is told to stop leaves nothing of its run behind:', () => {
  const left = () =>
    readdirSync(folder).filter(name => name.endsWith('.lock') || /^(baton|limited-stock|mailing)-/.test(name))

  it.each([
    ['npm start', () => start, 'SIGTERM'],
    ['npm start', () => start, 'SIGINT'],
    ['npm start', () => start, 'SIGHUP'],
    ['npm start', () => start, 'SIGQUIT'],
    ['npm run cluster', cluster, 'SIGTERM'],
    ['npm run cluster', cluster, 'SIGQUIT'],
    ['npm run example', () => ['examples/limited-stock/start.ts'], 'SIGINT'],
    ['npm run mailing', () => ['examples/mailing/start.ts'], 'SIGQUIT'],
  ] as const)('%s', async (_, args, signal) => {
    const { child } = await launch(process.execPath, args(), { TMPDIR: folder })
    expect(left()).not.toEqual([])
    child.kill(signal)
    // npm passes on what the terminal has sent already.
    child.kill(signal)
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    expect(left()).toEqual([])
  })

  it.each([
    ['npm start', () => start],
    ['npm run cluster', cluster],
  ])('%s, also while it starts', async (_, args) => {
    const launching = launch(process.execPath, args(), { TMPDIR: folder })
    await eventually(() => expect(left()).not.toEqual([]))
    const child = launched.at(-1)!
    const runtimes = below(child.pid!, 'workerd')
    child.kill('SIGINT')
    const { said } = await launching
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBe(0)
    expect(said()).not.toContain('Baton is at')
    expect(left()).toEqual([])
    await allGone(runtimes)
  })

  it('nor if its runtime ends by itself', async () => {
    const { child } = await launch(process.execPath, start, { TMPDIR: folder })
    process.kill(below(child.pid!, 'workerd')[0]!, 'SIGKILL')
    const [code] = await once(child, 'exit')
    expect(code).toBe(1)
    expect(left()).toEqual([])
  })

  it('nor if it could not start', async () => {
    const { port, server } = await takenPort()
    const { said } = await launch(process.execPath, start, { TMPDIR: folder, PORT: String(port) })
    expect(said()).toContain(`Port ${port} is in use, or not for you. Take another: PORT=8788 npm start`)
    expect(left()).toEqual([])
    server.close()
  })

  it.each([
    ['npm start', () => start],
    ['npm run cluster', cluster],
  ])('nor if its storage is a file: %s', async (_, args) => {
    for (const name of ['storage', 'cluster']) writeFileSync(join(folder, name), '')
    const { child, said } = await launch(process.execPath, args(), { TMPDIR: folder })
    expect(said()).toMatch(/could not start: the storage folder \S+ cannot be written: EEXIST/)
    expect(said()).not.toContain('npm start')
    expect(child.exitCode).toBe(1)
    expect(left()).toEqual([])
  })
})

describe('npm start', () => {
  it('asks for keys if it has some', async () => {
    const keys = [{ name: 'a', hash: 'a'.repeat(64), locks: ['*'], verbs: ['read'] }]
    const { said } = await launch(process.execPath, start, { BATON_KEYS: JSON.stringify(keys) })
    expect(said()).toContain('for those who have a key')
    expect((await fetch(`${urlIn(said())}/v1/locks/a`)).status).toBe(401)
  })

  it('hands its variables on, and says of one that means nothing', async () => {
    const { said } = await launch(process.execPath, start, {
      BATON_PROTOCOL: 'maekawa',
      BATON_PARTICIPANTS: '[{"location": "weur"}]',
      BATON_PROTOCL: 'wme-1',
      // The command line's own.
      BATON_URL: 'https://baton.example',
      BATON_KEY: 'k',
    })
    expect(said()).toContain('BATON_PROTOCL is no variable of Baton')
    expect(said().match(/BATON_/g)).toHaveLength(1)
    const lock = `${urlIn(said())}/v1/locks/a`
    await fetch(`${lock}/acquire`, { method: 'POST', body: '{}', headers: JSON_BODY })
    const described = await (await fetch(lock)).json()
    expect(described).toMatchObject({ protocol: 'maekawa', participants: [{ location: 'weur' }] })
  })

  it('asks for a key if it is told to', async () => {
    const { said } = await launch(process.execPath, start, { BATON_OPEN: 'false' })
    expect(said()).toContain('for those who have a key')
    expect((await fetch(`${urlIn(said())}/v1/locks/a`)).status).toBe(401)
  })
})

describe('a storage folder', () => {
  it('has one launcher', async () => {
    await launch(process.execPath, start)
    const second = await launch(process.execPath, start)
    expect(second.child.exitCode).toBe(1)
    expect(second.said()).toMatch(/storage.* is in use by process [0-9]+/)
    expect(second.said()).not.toContain('8788')
  })

  it('of a cluster has one as well', async () => {
    await launch(process.execPath, cluster())
    const second = await launch(process.execPath, cluster())
    expect(second.child.exitCode).toBe(1)
    expect(second.said()).toMatch(/cluster is in use by process [0-9]+/)
  })

  it('is taken over from one that was killed', async () => {
    const first = await launch(process.execPath, start)
    const runtimes = below(first.child.pid!, 'workerd')
    first.child.kill('SIGKILL')
    await allGone(runtimes)
    const second = await launch(process.execPath, start)
    expect(second.said()).toContain('Baton is at')
  })

  it('is free again when its holder lets it go', async () => {
    const storage = join(folder, 'storage')
    const held = await lockStorage(storage)
    held.holdFor(process.pid)
    await expect(lockStorage(storage)).rejects.toThrow(`is in use by process ${process.pid}`)
    held.release()
    ;(await lockStorage(storage)).release()
  })

  it('is not taken over twice from one that was killed', async () => {
    const storage = join(folder, 'storage')
    await leftByKilled(storage)
    // While the first one removes what is left, the second one comes.
    let second: Promise<StorageLock> | undefined
    beforeTheNext('rmSync', () => {
      second = lockStorage(storage)
    })
    const first = await lockStorage(storage)
    await expect(second).rejects.toThrow(`is in use by process ${process.pid}`)
    first.release()
  })

  it('is one, also through a link', async () => {
    const storage = join(folder, 'storage')
    const held = await lockStorage(storage)
    symlinkSync(storage, join(folder, 'linked'))
    await expect(lockStorage(join(folder, 'linked'))).rejects.toThrow(`is in use by process ${process.pid}`)
    held.release()
  })

  it('goes to one of two that see each other', async () => {
    const storage = join(folder, 'storage')
    // The second one comes when the first one has said that it wants the folder, and has not looked yet.
    let second: Promise<StorageLock> | undefined
    beforeTheNext('readdirSync', () => {
      second = lockStorage(storage)
    })
    const first = lockStorage(storage)
    const outcomes = await Promise.allSettled([first, second!])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.release()
  })

  it('is not kept by a file that is no claim', async () => {
    const storage = join(folder, 'storage')
    const files = [
      'storage.lock',
      `storage.${process.pid}.lock`,
      `other.${process.pid}-${'0'.repeat(16)}.lock`,
    ]
    for (const file of files) writeFileSync(join(folder, file), '')
    ;(await lockStorage(storage)).release()
    expect(readdirSync(folder).sort()).toEqual([...files, 'storage'].sort())
  })

  /** Something else happens between two steps. */
  function beforeTheNext(call: 'rmSync' | 'readdirSync', act: () => void): void {
    const original = fs[call]
    const put = (value: unknown) => {
      Object.assign(fs, { [call]: value })
      syncBuiltinESMExports()
    }
    onTestFinished(() => put(original))
    put((...args: unknown[]) => {
      put(original)
      act()
      return Reflect.apply(original, fs, args)
    })
  }

  /** A launcher had this folder, and could not let it go. */
  async function leftByKilled(storage: string): Promise<void> {
    const holding = `import { lockStorage } from '${pathToFileURL(join(ROOT, 'worker/local/storage-lock.ts'))}'
      await lockStorage('${storage}')
      process.kill(process.pid, 'SIGKILL')`
    await once(spawn(process.execPath, ['--input-type=module', '-e', holding], { cwd: ROOT }), 'exit')
    expect(readdirSync(folder).filter(name => name.endsWith('.lock'))).toHaveLength(1)
  }
})

describe('npm run cluster', () => {
  const onUsualPort = () => ['worker/local/run-cluster.ts', '--storage', join(folder, 'cluster')]

  it('says so and takes another port while `npm start` has the usual one', async () => {
    const { port, server } = await takenPort()
    const { said } = await launch(process.execPath, onUsualPort(), { PORT: String(port) })
    expect(said()).toContain(`Port ${port} is in use (by \`npm start\`?), so the cluster takes `)
    expect((await fetch(`${urlIn(said())}/healthz`)).status).toBe(200)
    server.close()
  })

  it('starts nothing on a port that was asked for and is in use', async () => {
    const { port, server } = await takenPort()
    const { child, said } = await launch(process.execPath, [...onUsualPort(), '--port', String(port)])
    expect(child.exitCode).toBe(1)
    expect(said()).toContain(`port ${port} is in use; choose another one with --port`)
    expect(below(process.pid, folder)).toEqual([])
    server.close()
  })

  it('has lines to try that work, before and after the kill, and again after a restart', async () => {
    const first = await launch(process.execPath, cluster())
    const lines = first
      .said()
      .split('\n')
      .map(line => line.trim())
    const calls = lines.filter(line => line.startsWith('curl'))
    const kill = lines.find(line => line.startsWith('kill -9 '))!
    expect(calls).toHaveLength(3)
    const [ran] = await runCommands([calls[0]!])
    expect(JSON.parse(ran!.output)).toMatchObject({ results: [{ value: 1 }] })
    const after = await runCommands([kill, calls[1]!, calls[2]!])
    expect(JSON.parse(after[1]!.output)).toMatchObject({ results: [{ value: 2 }] })
    expect(JSON.parse(after[2]!.output)).toMatchObject({
      participants: [{ reachable: false }, { reachable: true }, { reachable: true }],
    })
    await eventually(() => expect(first.said()).toContain('participant 1 is gone'))

    first.child.kill('SIGTERM')
    await once(first.child, 'exit')
    const second = await launch(process.execPath, cluster())
    const places = (text: string) =>
      [...text.matchAll(/participant \d: process \d+, (at \S+)/g)].map(([, at]) => at)
    expect(places(second.said())).toEqual(places(first.said()))
    const lock = `${urlIn(second.said())}/v1/locks/demo`
    expect(await (await fetch(`${lock}/state/visits`)).json()).toMatchObject({ value: 2 })
    const state = (await (await fetch(lock)).json()) as { participants: { reachable: boolean }[] }
    expect(state.participants.map(({ reachable }) => reachable)).toEqual([true, true, true])
  })
})

describe('what workerd prints', () => {
  it.each([
    'workerd/io/io-context.c++:123: warning: NOSENTRY SQLite alarm overdue, running despite AlarmManager mismatch',
    'workerd/io/actor-sqlite.c++:1: warning: NOSENTRY SQLite alarm handler canceled.; scheduledTime = 1',
  ])('is not shown if it is harmless: %s', line => expect(isHarmless(line)).toBe(true))

  it.each([
    'service main: Uncaught TypeError: x is not a function',
    '{"level":"warning","message":"a participant did not answer"}',
    'kj/async-io-unix.c++:945: failed: ::bind(sockfd, &addr.generic, addrlen): Address already in use',
  ])('is shown otherwise: %s', line => expect(isHarmless(line)).toBe(false))
})
