/**
 * `npm start` and `npm run cluster`, however they end, leave no process behind; and no two of them share a
 * storage folder.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockStorage } from '../../worker/local/storage-lock.ts'
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
      if (said.includes('Baton is at')) resolve()
    }
    child.stdout!.on('data', keep)
    child.stderr!.on('data', keep)
  })
  await Promise.race([ready, once(child, 'exit')])
  return { child, said: () => said }
}

const start = ['worker/local/start.ts']
const cluster = () => ['worker/local/run-cluster.ts', '--port', '0', '--storage', join(folder, 'cluster')]

/** All processes below this one whose command has this word. */
function below(pid: number, word: string): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(row => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row)!)
    .map(([, own, parent, command]) => ({ own: Number(own), parent: Number(parent), command: command! }))
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

describe('a storage folder', () => {
  it('has one launcher', async () => {
    await launch(process.execPath, start)
    const second = await launch(process.execPath, start)
    expect(second.child.exitCode).toBe(1)
    expect(second.said()).toMatch(/storage.* is in use by process [0-9]+/)
    expect(second.said()).not.toContain('If the port is in use')
  })

  it('of a cluster has one as well', async () => {
    await launch(process.execPath, cluster())
    const second = await launch(process.execPath, cluster())
    expect(second.child.exitCode).toBe(1)
    expect(second.said()).toMatch(/participant-[123] is in use by process [0-9]+/)
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

  it('is taken over if the lock file is no lock file', async () => {
    const storage = join(folder, 'storage')
    writeFileSync(`${storage}.lock`, 'x')
    ;(await lockStorage(storage)).release()
  })
})
