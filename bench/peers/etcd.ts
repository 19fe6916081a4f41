/**
 * etcd as a client uses it over its JSON gateway: a lock of its own lock service, bound to a lease, and a
 * transaction that writes only while the client still has the lock.
 */
import { randomUUID } from 'node:crypto'
import type { Locking } from '../cases/lock-cases.ts'
import { request } from '../http.ts'

export interface EtcdGrant {
  readonly endpoint: string
  readonly lease: string
  /** The key that is there for as long as the lock is held, as etcd spells it. */
  readonly key: string
}

/** Nothing may expire while it is measured. */
const LEASE_SECONDS = 600

const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** `endpoints` in the order of the members; a client that names none is at the first. */
export function etcdLocks(endpoints: readonly string[]): Locking<EtcdGrant> {
  /** A client keeps its lease. Two clients with one lease would be the same client to etcd. */
  const idle = new Map<string, string[]>()
  const takeLease = async (endpoint: string): Promise<string> => {
    const kept = idle.get(endpoint)?.pop()
    if (kept !== undefined) return kept
    return (await request<{ ID: string }>('POST', `${endpoint}/v3/lease/grant`, { TTL: LEASE_SECONDS })).ID
  }
  return {
    acquire: async (lock, at = 1) => {
      const endpoint = endpoints[(at - 1) % endpoints.length]!
      const lease = await takeLease(endpoint)
      const body = { name: encoded(lock), lease }
      const { key } = await request<{ key: string }>('POST', `${endpoint}/v3/lock/lock`, body)
      return { endpoint, lease, key }
    },
    write: async (lock, { endpoint, key }) => {
      // Not below the lock's own name: whatever lies there counts as somebody who waits for the lock.
      const { succeeded } = await request<{ succeeded?: boolean }>('POST', `${endpoint}/v3/kv/txn`, {
        compare: [{ key, target: 'CREATE', result: 'GREATER', createRevision: '0' }],
        success: [{ requestPut: { key: encoded(`state/${lock}`), value: encoded(randomUUID()) } }],
      })
      if (succeeded !== true) throw new Error(`etcd: ${lock} is not held any more`)
    },
    release: async (_lock, { endpoint, lease, key }) => {
      await request('POST', `${endpoint}/v3/lock/unlock`, { key })
      idle.set(endpoint, [...(idle.get(endpoint) ?? []), lease])
    },
  }
}
