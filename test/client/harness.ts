/** A client and a service in memory on one virtual clock, for tests that no real service could wait for. */
import { type Baton, type BatonOptions, createBaton, type Lock } from '../../client/index.ts'
import type { FakeLock } from './fake-lock.ts'
import { createFakeServer, type FakeServer } from './fake-server.ts'
import { FaultyNetwork } from './faults.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface Harness {
  readonly clock: VirtualClock
  readonly server: FakeServer
  readonly network: FaultyNetwork
  readonly baton: Baton
  readonly lock: Lock
  /** The same lock, from the inside. */
  readonly inside: FakeLock
}

export type HarnessOptions = Pick<BatonOptions, 'retry' | 'random' | 'timeoutMs' | 'newId'>

export function createHarness(options: HarnessOptions = {}): Harness {
  const clock = new VirtualClock()
  const server = createFakeServer({ clock })
  const network = new FaultyNetwork(server.fetch, clock)
  const baton = createBaton({ fetch: network.fetch, clock, ...options })
  return { clock, server, network, baton, lock: baton.lock('test'), inside: server.lock('test') }
}

/** The error, or a failure if there is none. */
export async function failure(work: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const nothing = Symbol('nothing')
  const result = await work.then(
    () => nothing,
    error => error,
  )
  if (result === nothing) throw new Error('it did not fail')
  return result
}
