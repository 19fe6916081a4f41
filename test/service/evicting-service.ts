/**
 * The service in wrangler's harness, which can evict an object at any moment; raw workerd does so only after
 * ten idle seconds.
 */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'
import { createTestHarness, type TestHarness } from 'wrangler'
import { COMPATIBILITY_DATE } from '../../worker/local/workerd.ts'
import { type JudgedLocks, TEST_LIMIT_MS } from './harness.ts'
import { Histories } from './histories.ts'
import { TestLock } from './lock.ts'

const CONFIG = {
  name: 'baton-evictions',
  main: 'test/service/test-worker.ts',
  compatibility_date: COMPATIBILITY_DATE,
  compatibility_flags: ['enable_request_signal', 'request_signal_passthrough'],
  durable_objects: { bindings: [{ name: 'PARTICIPANT', class_name: 'BatonParticipant' }] },
  migrations: [{ tag: 'v1', new_sqlite_classes: ['BatonParticipant'] }],
  vars: { BATON_OPEN: 'true', BATON_EVENTS_KEPT: '1000000' },
}

/** See worker/local/quiet.env. */
const QUIET = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  X_LOCAL_EXPLORER: 'false',
  X_LOCAL_OBSERVABILITY: 'false',
  WRANGLER_WRITE_LOGS: 'false',
}

const NOT_EVICTED = /Timed out waiting to evict|is not currently running/

export class EvictingService implements JudgedLocks {
  readonly histories = new Histories(() => this.url)
  private harness: TestHarness | null = null
  private url = ''
  private locks = 0

  async start(): Promise<void> {
    Object.assign(process.env, QUIET)
    this.harness = createTestHarness({
      root: fileURLToPath(new URL('../..', import.meta.url)),
      workers: [{ config: CONFIG }],
    })
    const { url } = await this.harness.listen()
    this.url = url.origin
  }

  async stop(): Promise<void> {
    await this.harness?.close()
  }

  lock(): TestLock {
    const name = `lock-${++this.locks}`
    this.histories.add(name)
    return new TestLock(name, () => this.url)
  }

  /**
   * What is in memory is gone once everything under way has ended; sockets hibernate. Returns `false` if it
   * does not end in time, or if the object is not in memory: it crashed a moment ago.
   */
  async evict(lock: TestLock, participant: number): Promise<boolean> {
    const options = { name: `${lock.name}/${participant}`, webSockets: 'hibernate' } as const
    try {
      await this.harness!.getWorker().evictDurableObject('PARTICIPANT', options)
      return true
    } catch (error) {
      if (!NOT_EVICTED.test(String(error))) throw error
      return false
    }
  }

  /** `ctx.abort()`: everything under way is broken off. */
  async crash(lock: TestLock, participant: number): Promise<void> {
    await fetch(`${this.url}/crash/${lock.name}/${participant}`, { method: 'POST' })
  }
}

export function useEvictingService(): EvictingService {
  const service = new EvictingService()
  beforeAll(() => service.start(), TEST_LIMIT_MS)
  afterAll(() => service.stop(), TEST_LIMIT_MS)
  return service
}
