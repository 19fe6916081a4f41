/**
 * Each command as a process against a service on workerd: what it prints for people, what for programs, and
 * its exit code.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { eventually, sleep } from '../service/eventually.ts'
import { itKeepsEveryPromise, useService } from '../service/harness.ts'
import { jsonLines, jsonOf, MAIN, useBaton } from './baton.ts'

const service = useService()
const { run, start } = useBaton(() => service.url)

describe('put and get', () => {
  it('put a value and read it, for people and for programs', async () => {
    const { name } = service.lock()
    expect(await run(['put', name, 'limit', '{"euro": 100}'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^revision \d+\n$/),
      stderr: '',
    })
    expect(await run(['get', name, 'limit'])).toEqual({ code: 0, stdout: '{"euro":100}\n', stderr: '' })
    const read = jsonOf(await run(['get', name, 'limit', '--json']))
    expect(read).toMatchObject({ key: 'limit', value: { euro: 100 } })
    const put = jsonOf(
      await run(['put', name, 'limit', '7', '--json', '--if-revision', String(read.revision)]),
    )
    expect(put).toMatchObject({ applied: true, results: [{ revision: put.sequence }] })
    expect(await run(['get', name, 'limit', '--local', '--at', '2'])).toMatchObject({ code: 0 })
  })

  it('takes text, standard input, and values that begin with a dash', async () => {
    const { name } = service.lock()
    await run(['put', name, 'leader', 'eu-1', '--text'])
    expect((await run(['get', name, 'leader'])).stdout).toBe('"eu-1"\n')
    expect((await run(['get', name, 'leader', '--raw'])).stdout).toBe('eu-1\n')
    expect(await run(['put', name, 'report', '-'], { input: '[1,2]\n' })).toMatchObject({ code: 0 })
    expect((await run(['get', name, 'report'])).stdout).toBe('[1,2]\n')
    expect(await run(['put', name, 'left', '--', '-1'])).toMatchObject({ code: 0 })
    expect((await run(['get', name, 'left'])).stdout).toBe('-1\n')
  })

  it('says that a key is not there', async () => {
    const { name } = service.lock()
    await run(['put', name, 'a', '1'])
    expect(await run(['get', name, 'b'])).toEqual({
      code: 1,
      stdout: '',
      stderr: "baton: There is no key 'b'.\n",
    })
    const missing = await run(['get', name, 'b', '--json'])
    expect(missing.code).toBe(1)
    expect(jsonOf(missing)).toEqual({ key: 'b', value: null, revision: 0 })
  })

  it('says that a condition does not hold', async () => {
    const { name } = service.lock()
    const { results } = jsonOf(await run(['put', name, 'a', '1', '--json'])) as {
      results: [{ revision: number }]
    }
    expect(await run(['put', name, 'a', '2', '--if-revision', '0'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `baton: Nothing was applied: the key has revision ${results[0].revision}.\n`,
    })
    const refused = await run(['put', name, 'a', '2', '--if-revision', '0', '--json'])
    expect(refused.code).toBe(1)
    expect(jsonOf(refused)).toMatchObject({ applied: false, results: [{ error: 'revision_mismatch' }] })
  })
})

describe('list', () => {
  it('prints each key, one on a line', async () => {
    const { name } = service.lock()
    const ops = ['user/1', 'user/2', 'zebra', 'new\nline'].map(key => ({ put: key, value: { key } }))
    await run(['transact', name, JSON.stringify(ops)])
    expect((await run(['list', name])).stdout).toBe(
      [
        '"new\\nline"\t{"key":"new\\nline"}',
        'user/1\t{"key":"user/1"}',
        'user/2\t{"key":"user/2"}',
        'zebra\t{"key":"zebra"}\n',
      ].join('\n'),
    )
    const users = jsonLines(await run(['list', name, '--prefix', 'user/', '--json']))
    expect(users).toMatchObject([{ key: 'user/1' }, { key: 'user/2' }])
    expect(jsonLines(await run(['list', name, '--limit', '1', '--json']))).toHaveLength(1)
  })
})

describe('transact', () => {
  it('applies all ops and prints a result for each', async () => {
    const { name } = service.lock()
    const ops = '[{"increment": "sold", "by": 2}, {"get": "sold"}]'
    const { code, stdout } = await run(['transact', name, ops])
    expect(code).toBe(0)
    expect(
      stdout
        .split('\n')
        .slice(0, 2)
        .map(line => JSON.parse(line).value),
    ).toEqual([2, 2])
    const answer = jsonOf(await run(['transact', name, '-', '--json'], { input: ops }))
    expect(answer).toMatchObject({ applied: true, results: [{ value: 4 }, { value: 4 }] })
  })

  it('applies nothing twice under one --op-id', async () => {
    const { name } = service.lock()
    const words = ['transact', name, '{"increment": "sold"}', '--op-id', 'order-17', '--json']
    const first = jsonOf(await run(words))
    expect(jsonOf(await run(words))).toMatchObject({ sequence: first.sequence, results: [{ value: 1 }] })
    const other = await run(['transact', name, '{"increment": "lost"}', '--op-id', 'order-17'])
    expect(other).toMatchObject({ code: 1, stdout: '' })
  })

  it('says which op failed, and what the service does not understand', async () => {
    const { name } = service.lock()
    const failed = await run(['transact', name, '[{"put": "a", "value": "x"}, {"increment": "a"}]'])
    expect(failed).toMatchObject({
      code: 1,
      stderr: 'baton: Nothing was applied: in op 2, the value is not a number.\n',
    })
    const unknown = await run(['transact', name, '{"incremen": "a"}', '--json'])
    expect(unknown.code).toBe(1)
    expect(jsonOf(unknown)).toMatchObject({ error: { code: 'bad_request', exitCode: 1 } })
  })
})

describe('acquire and release', () => {
  it('leaves the lock held, and says who holds it when it is busy', async () => {
    const { name } = service.lock()
    const { grant } = jsonOf(await run(['acquire', name, '--ttl', '2m', '--json'])) as {
      grant: { id: string; fence: number }
    }
    const busy = await run(['acquire', name, '--try'])
    expect(busy.code).toBe(3)
    expect(busy.stderr).toMatch(
      new RegExp(`^baton: The lock is busy: it is held at participant \\d with fence ${grant.fence}, until `),
    )
    const busyJson = await run(['acquire', name, '--wait', '1ms', '--json'])
    expect(busyJson.code).toBe(3)
    expect(jsonOf(busyJson)).toMatchObject({ error: { code: 'locked', holder: { fence: grant.fence } } })

    const under = jsonOf(await run(['put', name, 'a', '1', '--grant', grant.id, '--json']))
    expect(under).toMatchObject({ applied: true })
    const environment = { BATON_LOCK: name, BATON_GRANT: grant.id }
    expect(await run(['put', name, 'a', '2'], { environment })).toMatchObject({ code: 0 })

    expect(await run(['release', name, grant.id])).toEqual({ code: 0, stdout: 'released\n', stderr: '' })
    expect(await run(['acquire', name, '--ttl', '1s'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^grant {2}\S+\nfence {2}\d+\nuntil {2}\S+Z\n$/),
    })
    const again = await run(['put', name, 'a', '3', '--grant', grant.id, '--json'])
    expect(again.code).toBe(4)
    expect(jsonOf(again)).toMatchObject({ error: { code: 'released', exitCode: 4 } })
  })

  it('leaves it held for its whole time to live, also after a wait', async () => {
    const lock = service.lock()
    const before = await lock.granted({ ttlMs: 60_000 })
    const waiting = start(['acquire', lock.name, '--ttl', '10m', '--wait', '1m', '--json'])
    await eventually(async () => {
      expect((await lock.status()).body.participants.map(({ queue }) => queue)).toContain(1)
    })
    await lock.release(before)
    const { grant } = jsonOf(await waiting.ended) as { grant: { fence: number } }
    // A grant whose answer nobody took would be over by then.
    await sleep(2 * API_LIMITS.untakenMs)
    expect((await lock.status()).body.holder).toMatchObject({ fence: grant.fence })
  })

  it('releases the grant of the environment, of this lock alone', async () => {
    const { name } = service.lock()
    const { grant } = jsonOf(await run(['acquire', name, '--json'])) as { grant: { id: string } }
    const environment = { BATON_LOCK: name, BATON_GRANT: grant.id }
    expect(await run(['release', 'another'], { environment })).toMatchObject({ code: 2 })
    expect(jsonOf(await run(['release', name, '--json'], { environment }))).toMatchObject({ released: true })
  })
})

describe('watch', () => {
  it('prints what happened and what happens', async () => {
    const { name } = service.lock()
    await run(['put', name, 'a', '1'])
    const watching = start(['watch', name, '--since', '0', '--json'])
    await watching.printed(/"type":"op"/)
    await run(['transact', name, '[{"delete": "a"}]'])
    await watching.printed(/"deleted":true/)
    watching.signal('SIGINT')
    const ended = await watching.ended
    expect(ended.code).toBe(130)
    expect(jsonLines(ended)).toContainEqual(expect.objectContaining({ type: 'holder' }))
    const { code, stdout } = await run(['watch', name, '--since', '0', '--count', '2'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d+ {2}holder {4}participant \d, fence \d+\n\d+ {2}op {8}fence \d+: "a" = 1\n$/)
  })
})

describe('status', () => {
  it('shows a lock', async () => {
    const { name } = service.lock()
    await run(['put', name, 'a', '1'])
    const { code, stdout } = await run(['status', name])
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^${name} \\(wme-2\\): free\n`))
    expect(stdout.match(/^participant \d/gm)).toHaveLength(3)
    expect(jsonOf(await run(['status', name, '--json']))).toMatchObject({ lock: name, holder: null })
  })

  it('shows the service', async () => {
    expect((await run(['status'])).stdout).toBe(`The service at ${service.url} is ok.\n`)
    expect(jsonOf(await run(['status', '--json']))).toMatchObject({ url: service.url, status: 'ok' })
  })

  it('follows a lock, one line for each change, until Ctrl-C', async () => {
    const { name } = service.lock()
    await run(['put', name, 'a', '1'])
    const following = start(['status', name, '--follow', '--every', '100ms'])
    await following.printed(/free; 0 waiting; epoch 0; all reachable/)
    const { grant } = jsonOf(await run(['acquire', name, '--ttl', '2m', '--json'])) as {
      grant: { id: string }
    }
    await following.printed(/held at participant \d with fence \d+; 0 waiting/)
    await run(['release', name, grant.id])
    await following.printed(/held(?:.*\n)+.*free/)
    following.signal('SIGINT')
    const { code, stdout } = await following.ended
    expect(code).toBe(130)
    const lines = stdout.trimEnd().split('\n')
    expect(new Set(lines).size).toBe(lines.length)
  })
})

describe('eject', () => {
  it('takes the lock from its holder, and from no other', async () => {
    const { name } = service.lock()
    const { grant } = jsonOf(await run(['acquire', name, '--ttl', '2m', '--json'])) as {
      grant: { id: string; fence: number }
    }
    const other = await run(['eject', name, '--fence', String(grant.fence + 1), '--json'])
    expect(other.code).toBe(1)
    expect(jsonOf(other)).toMatchObject({ error: { code: 'conflict' } })
    const { code, stdout } = await run(['eject', name, '--fence', String(grant.fence)])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^the holder with fence \d+ is out; the lock is in epoch \d+\n$/),
    })
    const over = await run(['put', name, 'a', '1', '--grant', grant.id])
    expect(over.code).toBe(4)
    expect(jsonOf(await run(['acquire', name, '--json']))).toHaveProperty('grant')
    expect(jsonOf(await run(['eject', name, '--json']))).toEqual({ epoch: expect.any(Number) })
    // Nobody holds it any more: what is said is true all the same.
    const { stdout: again } = await run(['eject', name])
    expect(again).toMatch(/^whoever held the lock is out; the lock is in epoch \d+\n$/)
  })
})

describe('history', () => {
  it('prints the format that the checker reads, and judges it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'baton-history-'))
    try {
      const { name } = service.lock()
      await run(['put', name, 'a', '1'])
      await eventually(async () => {
        expect((await run(['history', name])).stdout.match(/"type":"invoke"/g)).toHaveLength(3)
      })
      const { code, stdout, stderr } = await run(['history', name])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({
        format: 1,
        protocol: 'wme-2',
        participants: 3,
      })
      const file = join(folder, 'history.jsonl')
      await writeFile(file, stdout)
      expect(await readFile(file, 'utf8')).toContain('"type":"crit"')
      const checker = join(MAIN, '../../test/history/main.ts')
      expect(spawnSync(process.execPath, [checker, file], { encoding: 'utf8' })).toMatchObject({ status: 0 })
      const checked = await run(['history', name, '--check'])
      expect(checked.code).toBe(0)
      expect(checked.stdout).toMatch(/^valid {4}WME3$/m)
      expect(checked.stdout).toMatch(/Progress is not judged here: .*\nNo violation was found.\n$/)
      expect(jsonOf(await run(['history', name, '--check', '--json']))).toMatchObject({
        safety: 'valid',
        gaps: [],
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('config', () => {
  it('configures a lock once, and shows it', async () => {
    const { name } = service.lock()
    const words = ['config', name, '--protocol', 'wme-1', '--locations', 'weur,enam', '--ttl', '1m']
    expect(await run(words)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^${name} \\(wme-1\\)\nparticipant 1 {2}weur\nparticipant 2 {2}enam\nttl +1m\n`),
      ),
    })
    expect(jsonOf(await run([...words, '--json']))).toMatchObject({
      lock: name,
      protocol: 'wme-1',
      ttlMs: 60_000,
    })
    const other = await run(['config', name, '--protocol', 'wme-2', '--json'])
    expect(other.code).toBe(1)
    expect(jsonOf(other)).toMatchObject({ error: { code: 'conflict' } })
    expect(jsonOf(await run(['config', name, '--json']))).toMatchObject({
      protocol: 'wme-1',
      participants: [
        { id: 1, location: 'weur' },
        { id: 2, location: 'enam' },
      ],
    })
    await run(['put', name, 'a', '1'])
  })
})

describe('start', () => {
  it('starts nothing while a variable has a mistake', async () => {
    const { code, stderr } = await run(['start', '--port', '0'], { environment: { BATON_PROTOCOL: 'wme2' } })
    expect(stderr).toContain('The service did not start: BATON_PROTOCOL is none of wme-1, wme-2')
    expect(code).toBe(2)
  })

  it('starts a service that the other commands use, and ends with a signal', async () => {
    const storage = await mkdtemp(join(tmpdir(), 'baton-start-'))
    try {
      const started = start(['start', '--port', '0', '--storage', join(storage, 'state'), '--json'])
      const [, url] = await started.printed(/"url":"([^"]+)"/)
      expect(await run(['put', 'demo', 'a', '1', '--url', url!])).toMatchObject({ code: 0 })
      const second = await run(['start', '--port', new URL(url!).port, '--storage', join(storage, 'other')])
      expect(second.code).toBe(1)
      expect(second.stderr).toContain(`The service could not start on port ${new URL(url!).port}`)
      started.signal('SIGINT')
      expect(await started.ended).toMatchObject({ code: 0 })
      expect(await run(['status', '--url', url!])).toMatchObject({ code: 5 })
    } finally {
      await rm(storage, { recursive: true, force: true })
    }
  })
})

itKeepsEveryPromise(service)
