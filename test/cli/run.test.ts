/**
 * `baton run` as a process: its command, its signals, and what happens when the lock or the service is lost.
 */
import { describe, expect, it } from 'vitest'
import { eventually } from '../service/eventually.ts'
import { useService } from '../service/harness.ts'
import type { TestLock } from '../service/lock.ts'
import { isAlive, type RunningBaton, useBaton } from './baton.ts'

const service = useService()
const { run, start } = useBaton(() => service.url)

/** A command that says when it runs, and who it is. */
const LONG = ['sh', '-c', 'echo pid $$; exec sleep 600']
const STUBBORN = ['sh', '-c', `trap 'echo asked' TERM; echo pid $$; while :; do sleep 0.1; done`]

async function pidOf(running: RunningBaton): Promise<number> {
  return Number((await running.printed(/pid (\d+)/))[1])
}

async function isFree(lock: TestLock): Promise<void> {
  const { body } = await lock.status()
  expect(body.holder).toBeNull()
  expect(body.participants.map(({ queue }) => queue)).toEqual([0, 0, 0])
}

const isDead = (pid: number) => eventually(() => expect(isAlive(pid)).toBe(false))

describe('the command', () => {
  it('finds lock, fence, grant and address in its environment, and can use the grant', async () => {
    const lock = service.lock()
    const script = `echo "$BATON_LOCK $BATON_FENCE $BATON_GRANT $BATON_URL"; "$NODE" "$MAIN" put ${lock.name} inside true`
    const environment = {
      NODE: process.execPath,
      MAIN: new URL('../../cli/main.ts', import.meta.url).pathname,
    }
    const { code, stdout, stderr } = await run(['run', lock.name, '--', 'sh', '-c', script], { environment })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [told, put] = stdout.split('\n')
    expect(told).toMatch(new RegExp(`^${lock.name} \\d+ \\S+ ${service.url}$`))
    expect(put).toMatch(/^revision \d+$/)
    await isFree(lock)
  })

  it('gives its exit code and its standard streams', async () => {
    const lock = service.lock()
    const words = ['run', lock.name, '--', 'sh', '-c', 'cat; echo wrong >&2; exit 42']
    expect(await run(words, { input: 'hello' })).toEqual({ code: 42, stdout: 'hello', stderr: 'wrong\n' })
    expect(await run(['run', lock.name, '--', 'sh', '-c', 'kill -9 $$'])).toMatchObject({ code: 128 + 9 })
    await isFree(lock)
  })

  it('may be one that is not there, or not to be executed', async () => {
    const lock = service.lock()
    expect(await run(['run', lock.name, '--', 'no-such-command'])).toEqual({
      code: 127,
      stdout: '',
      stderr: "baton: There is no command 'no-such-command'.\n",
    })
    expect(await run(['run', lock.name, '--', '/'])).toMatchObject({ code: 126 })
    const { stderr } = await run(['run', lock.name, '--json', '--', 'no-such-command'])
    const events = stderr.trimEnd().split('\n')
    expect(events.map(line => JSON.parse(line).event)).toEqual(['granted', 'not-started', 'ended'])
    await isFree(lock)
  })

  it.each([
    ['a path through a file', `${process.execPath}/nothing`, 'ENOTDIR'],
    ['a name that is too long', 'x'.repeat(5_000), 'ENAMETOOLONG'],
  ])('may be one that cannot be tried: %s', async (_, program, reason) => {
    const lock = service.lock()
    expect(await run(['run', lock.name, '--ttl', '10m', '--', program])).toEqual({
      code: 126,
      stdout: '',
      stderr: `baton: '${program}' cannot be executed: ${reason}.\n`,
    })
    const { code, stderr } = await run(['run', lock.name, '--json', '--', program])
    const events = stderr.trimEnd().split('\n')
    expect([code, ...events.map(line => JSON.parse(line).event)]).toEqual([
      ...[126, 'granted', 'not-started', 'ended'],
    ])
    await isFree(lock)
  })

  it('keeps the lock for longer than its time to live', async () => {
    const lock = service.lock()
    const { code } = await run(['run', lock.name, '--ttl', '4s', '--', 'sleep', '9'])
    expect(code).toBe(0)
  })

  it('is told of in JSON lines on standard error: standard output is its own', async () => {
    const lock = service.lock()
    const { stdout, stderr } = await run(['run', lock.name, '--json', '--', 'echo', '--json'])
    expect(stdout).toBe('--json\n')
    const events = stderr
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(events).toMatchObject([
      { event: 'granted', lock: lock.name },
      { event: 'ended', code: 0 },
    ])
  })

  it('does not run while somebody else holds the lock', async () => {
    const lock = service.lock()
    await lock.granted({ ttlMs: 60_000 })
    const busy = await run(['run', lock.name, '--try', '--', 'echo', 'ran'])
    expect(busy).toMatchObject({ code: 123, stdout: '' })
    expect(busy.stderr).toContain('The lock is busy')
    const json = await run(['run', lock.name, '--try', '--json', '--', 'echo', 'ran'])
    expect(json).toMatchObject({ code: 123, stdout: '' })
    expect(JSON.parse(json.stderr)).toMatchObject({
      event: 'failed',
      error: { code: 'locked', exitCode: 123, holder: { fence: expect.any(Number) } },
    })
  })

  it('does not run if the command line makes no sense', async () => {
    for (const words of [
      ['a'],
      ['a', 'b', '--', 'c'],
      ['a', '--wait', '5', '--', 'c'],
      ['a', '--try', '--wait', '1s', '--', 'c'],
      ['a', '--', ''],
    ]) {
      expect(await run(['run', ...words]), words.join(' ')).toMatchObject({ code: 122, stdout: '' })
    }
  })
})

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s goes on to the command', async signal => {
    const lock = service.lock()
    const number = { SIGTERM: 15, SIGINT: 2, SIGHUP: 1 }[signal]
    const running = start(['run', lock.name, '--', 'node', '-e', SIGNALLED])
    const pid = await pidOf(running)
    running.signal(signal)
    expect(await running.ended).toMatchObject({
      code: 40 + number,
      stdout: expect.stringContaining(`got ${signal}`),
    })
    await isDead(pid)
    await isFree(lock)
  })

  it('that ends the command ends baton with the code of a shell', async () => {
    const lock = service.lock()
    const running = start(['run', lock.name, '--', ...LONG])
    await pidOf(running)
    running.signal('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 143 })
    await isFree(lock)
  })

  it('reaches what the command has started', async () => {
    const lock = service.lock()
    const running = start(['run', lock.name, '--', 'sh', '-c', 'sleep 600 & echo pid $!; wait; wait'])
    const grandchild = await pidOf(running)
    running.signal('SIGTERM')
    await running.ended
    await isDead(grandchild)
  })

  it.each([
    ['SIGTERM', 'forever'],
    ['SIGINT', '20s'],
  ] as const)(
    '%s while it waits (%s) ends the wait, and leaves nothing behind that could hold the lock',
    async (signal, wait) => {
      const lock = service.lock()
      const grant = await lock.granted({ ttlMs: 60_000 })
      const waiting = start(['run', lock.name, '--wait', wait, '--ttl', '10m', '--', 'echo', 'ran'])
      await eventually(async () => {
        const { body } = await lock.status()
        expect(body.participants.some(({ queue }) => queue === 1)).toBe(true)
      })
      waiting.signal(signal)
      expect(await waiting.ended).toEqual({ code: signal === 'SIGTERM' ? 143 : 130, stdout: '', stderr: '' })
      await lock.release(grant)
      await eventually(() => isFree(lock))
    },
  )
})

const SIGNALLED = `
  for (const [name, number] of [['SIGTERM', 15], ['SIGINT', 2], ['SIGHUP', 1]])
    process.on(name, () => { console.log('got ' + name); process.exit(40 + number) })
  setInterval(() => {}, 1000)
  console.log('pid ' + process.pid)
`

describe('a lock that is lost', () => {
  it('stops the command with SIGTERM', async () => {
    const lock = service.lock()
    const running = start(['run', lock.name, '--ttl', '10m', '--', 'node', '-e', SIGNALLED])
    const pid = await pidOf(running)
    await lock.send('POST', '/eject', { body: {} })
    const { code, stdout, stderr } = await running.ended
    expect(code).toBe(124)
    expect(stdout).toContain('got SIGTERM')
    expect(stderr).toMatch(/^baton: The lock was lost, and the command is stopped: /m)
    expect(isAlive(pid)).toBe(false)
  })

  it('stops one that does not listen with SIGKILL, and all that it has started', async () => {
    const lock = service.lock()
    const running = start(['run', lock.name, '--ttl', '1s', '--grace', '300ms', '--', ...STUBBORN])
    const pid = await pidOf(running)
    await lock.send('POST', '/eject', { body: {} })
    expect(await running.ended).toMatchObject({ code: 124, stdout: expect.stringContaining('asked') })
    expect(isAlive(pid)).toBe(false)
  })

  it('is told also if the command has ended meanwhile, by itself', async () => {
    const lock = service.lock()
    const words = ['run', lock.name, '--ttl', '10m', '--json', '--', 'sh', '-c', 'echo pid $$; cat']
    const running = start(words, { input: null })
    await pidOf(running)
    await lock.send('POST', '/eject', { body: {} })
    running.process.stdin!.end()
    const { code, stderr } = await running.ended
    expect(code).toBe(124)
    expect(stderr).toMatch(/"event":"lost".*\n.*"event":"ended"/)
  })
})

describe('a service that', () => {
  const mortal = useService()

  it('is not there is told from a busy lock', async () => {
    const away = await run(['run', 'a', '--url', 'http://127.0.0.1:9', '--', 'echo', 'ran'])
    expect(away).toEqual({
      code: 125,
      stdout: '',
      stderr:
        'baton: No Baton service answers at http://127.0.0.1:9 (connection refused). The address is from --url.\n',
    })
  })

  it('dies while the lock is held costs the command its lock', async () => {
    const lock = mortal.lock()
    const running = start(['run', lock.name, '--ttl', '1s', '--', ...LONG], {
      environment: { BATON_URL: mortal.url },
    })
    const pid = await pidOf(running)
    await mortal.kill()
    const { code, stderr } = await running.ended
    expect(code).toBe(124)
    expect(stderr).toContain('The lock was lost, and the command is stopped')
    expect(isAlive(pid)).toBe(false)
    await mortal.start()
    expect(
      await run(['run', lock.name, '--wait', '1m', '--', 'true'], { environment: { BATON_URL: mortal.url } }),
    ).toMatchObject({ code: 0 })
  })

  it('dies before the release leaves the exit code of the command, and says what is held', async () => {
    const lock = mortal.lock()
    const words = ['run', lock.name, '--ttl', '10m', '--', 'sh', '-c', 'echo pid $$; read line; exit 7']
    const running = start(words, { environment: { BATON_URL: mortal.url }, input: null })
    await running.printed(/pid/)
    await mortal.kill()
    running.process.stdin!.end()
    const { code, stderr } = await running.ended
    expect(code).toBe(7)
    expect(stderr).toContain('could not be released')
    await mortal.start()
  })
})
