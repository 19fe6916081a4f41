/** Baton as part of another Worker (own-worker.ts), on raw workerd. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Baton, createBaton, UnauthenticatedError } from '../../client/index.ts'
import { type Account, account } from './account.ts'
import { historyOf, violationsIn } from './judged.ts'
import { fileOf, type StartedWorker, startWorker } from './workers.ts'

/** Other participants than the one that answered come after it, on a busy machine much later. */
const POLL = { timeout: 20_000 }
const KEY = 'key-of-these-tests'
const HASH = createHash('sha256').update(KEY).digest('hex')
const KEYS = JSON.stringify([{ name: 'test', hash: HASH, locks: ['*'], verbs: ['*'] }])

let worker: StartedWorker
let locks: Baton

beforeAll(async () => {
  worker = await startWorker('test/examples/own-worker.ts', { BATON_KEYS: KEYS })
  locks = createBaton({ url: `${worker.url}/locks-api`, key: KEY })
})
afterAll(() => worker?.[Symbol.asyncDispose]())

describe('the router below a path', () => {
  it('answers there and nowhere else, and leaves the rest to the Worker', async () => {
    const answers = await Promise.all(
      ['/locks-api/healthz', '/healthz', '/locks-api/no-such'].map(path => fetch(worker.url + path)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404])
    expect(await answers[1]!.text()).toBe('nothing here')
    expect(await answers[2]!.json()).toMatchObject({ code: 'no_such_route' })
  })

  it('has its page where its path ends with a slash', async () => {
    const response = await fetch(`${worker.url}/locks-api/`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ links: { docs: '/locks-api/docs' } })
    const page = await fetch(`${worker.url}/locks-api/`, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('href="/locks-api/docs"')
  })

  it('describes itself as it is reached', async () => {
    const description = (await (await fetch(`${worker.url}/locks-api/openapi.json`)).json()) as object
    expect(description).toMatchObject({ servers: [{ url: '/locks-api' }] })
  })

  it('wants a key, which the own code of the Worker does not need', async () => {
    const stranger = createBaton({ url: `${worker.url}/locks-api` }).lock('account-stranger')
    await expect(stranger.get('balance')).rejects.toThrow(UnauthenticatedError)
    const bonus = () => fetch(`${worker.url}/bonus?customer=ann`).then(response => response.json())
    expect([await bonus(), await bonus()]).toEqual([{ balance: 500 }, { balance: 500 }])
    expect((await locks.lock('account-ann').get('balance')).value).toBe(500)
  })

  it('lets nobody without the secret speak to a participant', async () => {
    for (const path of ['/participant/call', '/locks-api/participant/call', '/locks-api/participant/peer']) {
      const response = await fetch(worker.url + path, { method: 'POST', body: '{}' })
      expect(response.status, path).toBe(404)
    }
  })
})

describe('a resource of one’s own', () => {
  it('is what some locks guard, and the others keep the map', async () => {
    const own = locks.lock<Account>('account-1')
    const other = locks.lock('orders')
    const both = await Promise.all([
      own.transact([{ deposit: 100 }, { withdraw: 30 }]),
      other.transact([{ increment: 'n' }]),
    ])
    expect(both.map(({ applied, results }) => [applied, results])).toEqual([
      [true, [{ balance: 100 }, { balance: 70 }]],
      [true, [{ value: 1, revision: both[1].sequence }]],
    ])
    expect([(await historyOf(own)).resource, (await historyOf(other)).resource]).toEqual([
      'account',
      'key-value',
    ])
  })

  it('refuses a batch as a whole, and says why', async () => {
    const lock = locks.lock<Account>('account-2')
    await lock.transact([{ deposit: 50 }])
    const { applied, results } = await lock.transact([{ deposit: 5 }, { withdraw: 56 }, { deposit: 1 }])
    expect(applied).toBe(false)
    expect(results).toEqual([
      { applied: false },
      { error: 'insufficient_funds', balance: 55 },
      { applied: false },
    ])
    expect((await lock.get('balance')).value).toBe(50)
  })

  it('that throws fails in the same way at every participant', async () => {
    const lock = locks.lock<Account>('account-3')
    await lock.transact([{ deposit: 50 }])
    const opId = 'not an amount'
    const failed = { applied: false, results: [{ applied: false }, { error: 'operation_failed' }] }
    expect(await lock.transact([{ deposit: 1 }, { deposit: 0.5 }], { opId })).toMatchObject(failed)
    expect(await lock.transact([{ deposit: 1 }])).toMatchObject({ results: [{ balance: 51 }] })
    await expect
      .poll(async () => {
        const { events } = await historyOf(lock)
        return events.filter(event => event.type === 'response' && event.opId === opId)
      }, POLL)
      .toMatchObject([1, 2, 3].map(() => ({ result: failed })))
    for (const at of [1, 2, 3]) {
      await expect
        .poll(async () => (await lock.get('balance', { at, consistency: 'local' })).value, POLL)
        .toBe(51)
    }
  })

  it('is guarded by the lock: what is read while it is held stays true', async () => {
    const lock = locks.lock<Account>('account-4')
    await lock.transact([{ deposit: 10 }])
    const withdrawHalf = (at: number) =>
      lock.run({ at }, async held => {
        const { value } = await held.get<number>('balance')
        return held.apply([{ withdraw: Math.ceil(value! / 2) }])
      })
    const outcomes = await Promise.all([1, 2, 3].map(withdrawHalf))
    expect(outcomes.map(({ applied }) => applied)).toEqual([true, true, true])
    expect(await lock.list()).toMatchObject({ entries: [{ key: 'balance', value: 1 }], cursor: null })
  })

  it('is shown by watch', async () => {
    const lock = locks.lock<Account>('account-5')
    const { sequence } = await lock.transact([{ deposit: 10 }])
    for await (const event of lock.watch({ since: 0 })) {
      if (event.type !== 'op') continue
      expect(event.changes).toEqual([{ key: 'balance', value: 10, revision: sequence }])
      break
    }
  })

  it('belongs to what the lock is made of, also if it is configured', async () => {
    const lock = locks.lock<Account>('account-6')
    await lock.configure({ protocol: 'wme-1', participants: [{ location: 'weur' }] })
    expect(await lock.transact([{ deposit: 1 }])).toMatchObject({ applied: true, results: [{ balance: 1 }] })
  })

  it('keeps every promise, judged on that resource', async () => {
    for (let number = 1; number <= 6; number++) {
      expect(await violationsIn(locks.lock<Account>(`account-${number}`), account), `${number}`).toEqual([])
    }
  })
})

describe('participants behind a URL', () => {
  it('are reached below the path too', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/locks-api`
    const variables = {
      BATON_OPEN: 'true',
      BATON_PEER_SECRET: 'a secret of these tests',
      BATON_URL: url,
      BATON_PARTICIPANTS: JSON.stringify([{ url }]),
    }
    await using started = await startWorker('test/examples/own-worker.ts', variables, port)
    const lock = createBaton({ url: `${started.url}/locks-api` }).lock<Account>('account-1')
    expect(await lock.transact([{ deposit: 7 }], { at: 1 })).toMatchObject({ results: [{ balance: 7 }] })
    expect(await lock.get('balance', { at: 1 })).toMatchObject({ value: 7 })
  })
})

/** Inside of this project its own files are imported by their paths. */
const PACKAGE_PATHS = {
  '@baton-lock/baton/resource': '../../shared/resource/define.ts',
  '@baton-lock/baton/client': '../../client/index.ts',
  '@baton-lock/baton': '../../worker/library.ts',
}

describe('docs/library.md', () => {
  it.each(['account.ts', 'own-worker.ts'])('has the code that was run here: %s', async file => {
    const code = await readFile(fileOf(`test/examples/${file}`), 'utf8')
    const withPackage = Object.entries(PACKAGE_PATHS).reduce(
      (text, [name, path]) => text.replaceAll(`'${path}'`, `'${name}'`),
      code.replace(/^\/\*\*.*\*\/\n/, ''),
    )
    expect(await readFile(fileOf('docs/library.md'), 'utf8')).toContain(`\`\`\`ts\n${withPackage}\`\`\``)
  })
})

/** It was free a moment ago: a participant must know its own URL before it runs. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
