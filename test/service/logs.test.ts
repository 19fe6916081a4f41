/**
 * One line of JSON for each ejection, expiry and change of epoch: with the name of the key and the id of the
 * request, never the key.
 */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { LOG_EVENTS, type LogEntry } from '../../shared/log.ts'
import { useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { openSession } from './session-socket.ts'

const KEY = 'baton_the-key-of-the-shop'
const OPERATOR = 'baton_the-key-of-the-operator'
const entry = (name: string, key: string) => {
  return { name, hash: createHash('sha256').update(key).digest('hex'), locks: ['*'], verbs: ['*'] }
}
const KEYS = JSON.stringify([entry('shop', KEY), entry('operator', OPERATOR)])

/** What the processes have logged of this lock. */
function linesOf(output: readonly string[], lock: string): LogEntry[] {
  const lines = output.flatMap(line => {
    const text = line.slice(line.indexOf('{"level"'))
    return line.includes('{"level"') ? [JSON.parse(text) as LogEntry] : []
  })
  return lines.filter(line => line.lock === lock)
}

describe('a service with keys', () => {
  const service = useService({ BATON_OPEN: '', BATON_KEYS: KEYS })
  const post = async (path: string, key: string, requestId: string, body: object) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-request-id': requestId,
    }
    const response = await fetch(`${service.url}/v1/locks/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect([response.status, response.headers.get('x-request-id')]).toEqual([200, requestId])
    return (await response.json()) as {
      readonly grant: { readonly id: string; readonly participant: number; readonly fence: number }
    }
  }

  it('logs an expiry with the key and the request that acquired', async () => {
    const { grant } = await post('expiring/acquire', KEY, 'acquire-1', { ttlMs: 1_000 })
    await eventually(async () => expect(linesOf(service.output, 'expiring')).toHaveLength(1))
    const [line] = linesOf(service.output, 'expiring')
    expect(line).toMatchObject({
      level: 'warning',
      event: 'expired',
      message: LOG_EVENTS.expired.message,
      participant: grant.participant,
      fence: grant.fence,
      cause: 'expired',
      key: 'shop',
      requestId: 'acquire-1',
    })
    expect(line!.heldMs).toBeGreaterThan(0)
  })

  it('logs who was forced out, and by whom', async () => {
    const { grant } = await post('ejected/acquire', KEY, 'acquire-2', {})
    await post('ejected/eject', OPERATOR, 'eject-2', { fence: grant.fence })
    await eventually(async () => expect(linesOf(service.output, 'ejected')).toHaveLength(2))
    const lines = linesOf(service.output, 'ejected')
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: 'ejected', cause: 'operator', key: 'shop', requestId: 'acquire-2' }),
        expect.objectContaining({
          event: 'eject',
          fence: grant.fence,
          key: 'operator',
          requestId: 'eject-2',
        }),
      ]),
    )
  })

  it('logs the end of a session with its key, and of nothing that ended well', async () => {
    const url = `${service.url}/v1/locks/session/session`
    const session = await openSession(url, ['baton', `baton.key.${KEY}`])
    session.send({ type: 'try' })
    await session.nextOf('crit')
    await post('session/eject', OPERATOR, 'eject-3', {})
    await session.nextOf('ejected')
    await eventually(async () => expect(linesOf(service.output, 'session')).toHaveLength(2))
    const line = linesOf(service.output, 'session').find(({ event }) => event === 'ejected')
    expect(line).toMatchObject({ key: 'shop', requestId: expect.stringMatching(/\S/) })
    session.close()
    await post('quiet/transact', KEY, 'transact-4', { opId: 'o', ops: [{ get: 'a' }] })
    expect(linesOf(service.output, 'quiet')).toEqual([])
  })

  it('has never written a key or the id of a grant', async () => {
    const { grant } = await post('secret/acquire', KEY, 'acquire-5', {})
    await post('secret/eject', OPERATOR, 'eject-5', {})
    await eventually(async () => expect(linesOf(service.output, 'secret')).toHaveLength(2))
    const output = service.output.join('\n')
    for (const secret of [KEY, OPERATOR, grant.id, grant.id.split('-').slice(2).join('-')])
      expect(output).not.toContain(secret)
  })
})

describe('a cluster', () => {
  const cluster = useCluster(3)

  it('logs the change of epoch when the participant with the token is killed', async () => {
    const lock = cluster.lock()
    await lock.transacted([{ increment: 'n' }], { at: 1 })
    await lock.granted({ at: 2, ttlMs: 600_000 })
    await cluster.kill(2)
    await lock.released(await lock.granted({ at: 1, waitMs: 25_000 }))
    await eventually(async () => {
      const epochs = linesOf(cluster.output, lock.name).filter(({ event }) => event === 'epoch')
      expect(new Set(epochs.map(({ participant }) => participant))).toEqual(new Set([1, 3]))
      for (const { from, to, owner } of epochs) expect([to! > from!, owner]).toEqual([true, 1])
    })
    await cluster.restart(2)
    await eventually(async () => {
      const lost = linesOf(cluster.output, lock.name).find(({ event }) => event === 'ejected')
      expect(lost).toMatchObject({ participant: 2, cause: 'suspected' })
    })
  })

  itKeepsEveryPromise(cluster)
})
