/**
 * What goes wrong is told in words that help, and by the exit code: wrong words, wrong keys, wrong addresses,
 * lost answers.
 */
import { createHash } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../cli/commands.ts'
import { generalHelp } from '../../cli/help.ts'
import { VERBS } from '../../shared/api/routes.ts'
import { parseKeys } from '../../worker/router/keys.ts'
import { useService } from '../service/harness.ts'
import { jsonOf, useBaton } from './baton.ts'

const entry = (name: string, locks: string[], verbs: string[]) => {
  return { name, hash: createHash('sha256').update(`key-of-${name}-0123456789`).digest('hex'), locks, verbs }
}
const service = useService({
  BATON_OPEN: '',
  BATON_KEYS: JSON.stringify([entry('operator', ['*'], ['*']), entry('reader', ['orders'], ['read'])]),
})
const { run, start } = useBaton(() => service.url)
const keyed = (name: string) => ({ environment: { BATON_KEY: `key-of-${name}-0123456789` } })

describe('the command line', () => {
  it.each([
    ['rnu', "There is no command 'rnu'; did you mean run?"],
    ['frobnicate', "There is no command 'frobnicate': see baton --help."],
    ['--wait 5s run', '--wait is not an option of every command: it goes after the name of its command.'],
    ['get a', '<key> is missing.'],
    ['get a b c', "'c' is one word too many."],
    ['get a b --jsno', 'Unknown option --jsno; did you mean --json?'],
    ['get a b --at 0', "--at is a whole number from 1, not '0'."],
    ['get .. b', "'..' is no name of a lock: "],
    ['put a b c', 'The value is not JSON: c; for a text, add --text.'],
    ['put a b 1 --wait 5', "--wait is a duration such as 500ms, 30s or 2m, not '5'."],
    [
      'get a b --url nowhere',
      "The address 'nowhere' (from --url) is not one like https://baton.example.com.",
    ],
    ['help run get', 'Help is for one command at a time.'],
    ['key --locks a/b', "--locks: 'a/b' is neither a name nor a beginning with a * at its end."],
    [`key --name ${'x'.repeat(101)}`, '--name: a name has at most 100 characters.'],
    ['key --locks *a', "--locks: '*a' is neither a name nor a beginning with a * at its end."],
    ['key --verbs fly', "--verbs: there is no 'fly'; "],
    ['config --ttl 1s', 'Which lock? Its name is missing.'],
    ['config a --participants 2 --locations weur', '--participants 2 and 1 --locations do not agree.'],
    ['status --follow', '--follow needs a lock.'],
    ['release a', 'Which grant? `baton acquire` printed its id.'],
    ['release a bogus', "'bogus' is not the id of a grant."],
    ['acquire a --ttl 1h', "--ttl is from 1s to 10m, not '1h'."],
    ['acquire a --ttl 10ms', "--ttl is from 1s to 10m, not '10ms'."],
    ['config a --ttl 11m', "--ttl is from 1s to 10m, not '11m'."],
    ['put a n -1', 'Unknown option -1; a word that begins with a dash goes after --.'],
  ])('baton %s', async (line, message) => {
    const { code, stdout, stderr } = await run(line.split(' '))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.startsWith(`baton: ${message}`), stderr).toBe(true)
  })

  it('without a command gets the help, and is wrong usage all the same', async () => {
    expect(await run([])).toEqual({ code: 2, stdout: '', stderr: generalHelp(COMMANDS) })
  })

  it.each(['--json', 'rnu --json', '--json get a', 'put a b c --json'])(
    'baton %s: also as JSON',
    async line => {
      const json = await run(line.split(' '))
      expect(json).toMatchObject({ code: 2, stderr: '' })
      expect(jsonOf(json)).toMatchObject({
        error: { code: 'usage', exitCode: 2, message: expect.any(String) },
      })
    },
  )
})

describe('a key', () => {
  it('that is missing, wrong or too weak is told from a busy lock, and each from the others', async () => {
    const { grant } = jsonOf(
      await run(['acquire', 'orders', '--ttl', '2m', '--json'], keyed('operator')),
    ) as {
      grant: { id: string }
    }
    const busy = await run(['acquire', 'orders', '--try'], keyed('operator'))
    expect(busy).toMatchObject({ code: 3, stderr: expect.stringContaining('The lock is busy') })
    const missing = await run(['acquire', 'orders', '--try'])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain(
      `The service at ${service.url} wants a key: give it one with --key, with BATON_KEY`,
    )
    const wrong = await run(['acquire', 'orders', '--try', '--key', 'baton_wrong'])
    expect(wrong).toMatchObject({
      code: 1,
      stderr: `baton: The service at ${service.url} does not know this key (from --key).\n`,
    })
    const weak = await run(['acquire', 'orders', '--try'], keyed('reader'))
    expect(weak).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The key (from BATON_KEY) may not do this: '),
    })
    const weakJson = await run(['run', 'orders', '--json', '--', 'echo', 'ran'], keyed('reader'))
    expect(weakJson).toMatchObject({ code: 121, stdout: '' })
    expect(JSON.parse(weakJson.stderr)).toMatchObject({
      event: 'failed',
      error: { code: 'forbidden', exitCode: 121, message: expect.any(String) },
    })
    const noKey = await run(['release', 'orders', grant.id, '--json'])
    expect(jsonOf(noKey)).toMatchObject({ error: { code: 'unauthenticated', exitCode: 1 } })
    expect(await run(['release', 'orders', grant.id], keyed('operator'))).toMatchObject({ code: 0 })
  })

  it('may stand before or after the name of the command', async () => {
    const words = ['--key', 'key-of-operator-0123456789']
    expect(await run([...words, 'put', 'stock', 'a', '1'])).toMatchObject({ code: 0 })
    expect(await run(['put', ...words, 'stock', 'a', '1'])).toMatchObject({ code: 0 })
    expect(await run(['put', 'stock', 'a', '1', `--key=${words[1]}`])).toMatchObject({ code: 0 })
    const elsewhere = { environment: { BATON_URL: 'http://127.0.0.1:9' } }
    const url = ['--url', service.url]
    expect(await run([...url, ...words, 'get', 'stock', 'a'], elsewhere)).toMatchObject({ stdout: '1\n' })
    expect(await run(['get', ...words, 'stock', ...url, 'a'], elsewhere)).toMatchObject({ stdout: '1\n' })
    expect(await run(['get', 'stock', 'a', ...words, ...url], elsewhere)).toMatchObject({ stdout: '1\n' })
  })

  it.each([
    [[]],
    [['--name', 'x'.repeat(100), '--locks', '*', '--verbs', '*']],
    [['--locks', `a,a.b-c_d,${'x'.repeat(64)},${'x'.repeat(64)}*,a*`, '--verbs', VERBS.join(',')]],
  ])('that `baton key` makes is one that the service takes: %j', async words => {
    const { entry } = jsonOf(await run(['key', ...words, '--json']))
    expect(parseKeys(JSON.stringify([entry]))).toEqual({ type: 'keys', entries: [entry] })
  })
})

describe('something else than a service', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })
  function serve(answer: (response: ServerResponse, asked: number) => void): Promise<string> {
    let asked = 0
    const server = createServer((_, response) => answer(response, ++asked))
    servers.push(server)
    return new Promise(resolve => {
      server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      )
    })
  }

  it('that answers is not asked all the time by whoever follows it once a month', async () => {
    let requests = 0
    const participants = [{ id: 1, location: null, reachable: true }]
    const status = { lock: 'a', protocol: 'wme-2', holder: null, generation: 1, participants }
    const url = await serve((response, asked) => {
      requests = asked
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(status))
    })
    const following = start(['status', 'a', '--follow', '--every', '720h', '--url', url])
    await following.printed(/free; 0 waiting/)
    await new Promise(resolve => setTimeout(resolve, 500))
    expect(requests).toBe(1)
    following.signal('SIGINT')
    expect((await following.ended).code).toBe(130)
  })

  it('is told so', async () => {
    const url = await serve(response => response.writeHead(404).end('<h1>Not here</h1>'))
    const { code, stderr } = await run(['get', 'a', 'b', '--url', url])
    expect(code).toBe(1)
    expect(stderr).toContain(`There seems to be no Baton service at ${url} (from --url): `)
    expect(await run(['status', '--url', url])).toMatchObject({ code: 1 })
  })

  it('that takes an operation and gives no answer leaves it unknown, and says how to ask again', async () => {
    const url = await serve(response => response.destroy())
    const lost = await run(['put', 'a', 'b', '1', '--wait', '1ms', '--op-id', 'order-17', '--url', url])
    expect(lost.code).toBe(6)
    expect(lost.stderr).toContain(
      'It is not known whether the operation was applied: ask again with --op-id order-17',
    )
    const json = await run(['put', 'a', 'b', '1', '--wait', '1ms', '--url', url, '--json'])
    expect(json.code).toBe(6)
    expect(jsonOf(json)).toMatchObject({
      error: { outcome: 'unknown', opId: expect.any(String), exitCode: 6 },
    })
  })

  it('that does not answer can be left with Ctrl-C, which says how to ask again', async () => {
    let hasAsked = () => {}
    const asked = new Promise<void>(resolve => {
      hasAsked = resolve
    })
    const url = await serve(() => hasAsked())
    const waiting = start(['put', 'a', 'b', '1', '--op-id', 'order-18', '--url', url])
    await asked
    waiting.signal('SIGINT')
    const { code, stderr } = await waiting.ended
    expect(code).toBe(130)
    expect(stderr).toContain(
      'Stopped. It is not known whether the operation was applied: ask again with --op-id order-18',
    )
  })

  it('is not asked if Ctrl-C comes before the whole of standard input', async () => {
    for (const words of [
      ['put', 'a', 'b', '-'],
      ['transact', 'a', '-'],
      ['import', '-'],
    ]) {
      const reading = start(words, { input: null })
      // More than a pipe holds: it is reading once this is written.
      await new Promise(resolve => reading.process.stdin!.write(' '.repeat(1_000_000), resolve))
      reading.signal('SIGINT')
      expect(await reading.ended).toMatchObject({ code: 130, stdout: '', stderr: '' })
    }
  })

  it('that is not there is told, with what to do about it', async () => {
    const url = await serve(() => {})
    for (const server of servers.splice(0)) server.close()
    const words = ['get', 'a', 'b', '--url', url]
    expect(await run(words)).toMatchObject({
      code: 5,
      stderr: `baton: No Baton service answers at ${url} (connection refused). The address is from --url.\n`,
    })
    expect(jsonOf(await run([...words, '--json']))).toMatchObject({ error: { code: 'network', exitCode: 5 } })
    expect(await run(['put', 'a', 'b', '1', '--url', url])).toMatchObject({ code: 5 })
    const nowhere = await run(['get', 'a', 'b', '--url', 'http://nowhere.invalid'])
    expect(nowhere).toMatchObject({ code: 5, stderr: expect.stringContaining('nowhere.invalid') })
  })
})

describe('help', () => {
  it('comes for every way to ask for it, and the version too', async () => {
    const general = await run(['--help'])
    expect(general).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^usage: baton <command>/),
    })
    expect(await run(['help'])).toEqual(general)
    const ofRun = await run(['run', '--help'])
    expect(ofRun).toMatchObject({ code: 0, stdout: expect.stringMatching(/^usage: baton run <lock>/) })
    expect(await run(['help', 'run'])).toEqual(ofRun)
    expect(await run(['-h', 'run'])).toEqual(ofRun)
    expect(jsonOf(await run(['help', 'run', '--json']))).toEqual({ help: ofRun.stdout })
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(jsonOf(await run(['--version', '--json']))).toEqual({ version: expect.any(String) })
  })
})
