/**
 * What the client promises, whatever service it talks to: the same tests run against the service in memory
 * and against the real one. Faults are made between the two, so they need nothing from the service.
 */
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import {
  type Baton,
  type BatonOptions,
  type Clock,
  createBaton,
  type Fetch,
  type Lock,
  systemClock,
} from '../../client/index.ts'
import { FaultyNetwork } from './faults.ts'
import { describeHolding } from './suite-holding.ts'
import { describeLosses } from './suite-losses.ts'
import { describeOperations } from './suite-operations.ts'
import { describeReading } from './suite-reading.ts'
import { describeWaiting } from './suite-waiting.ts'
import { describeWatching } from './suite-watching.ts'

export interface ServiceUnderTest {
  readonly fetch: Fetch
  /** Where it is, if its `fetch` has to know. */
  readonly url?: string
  readonly key?: string
  /** Default: the real one. */
  readonly clock?: Clock
  stop?(): Promise<void>
}

export interface SuiteOptions {
  /** How many random runs the properties are tried with. */
  readonly propertyRuns: number
}

export type ClientOptions = Pick<BatonOptions, 'timeoutMs' | 'retry' | 'random' | 'headers'> & {
  readonly fetch?: Fetch
}

/** New for each test. */
export class Bench {
  readonly service: ServiceUnderTest
  readonly clock: Clock
  readonly network: FaultyNetwork
  readonly baton: Baton
  /** Nobody else uses it. */
  readonly lock: Lock

  constructor(service: ServiceUnderTest) {
    this.service = service
    this.clock = service.clock ?? systemClock
    this.network = new FaultyNetwork(service.fetch, this.clock)
    this.baton = this.client({})
    this.lock = this.baton.lock(newLockName())
  }

  /** Another client, with a network of its own if it is given one. */
  client({ fetch = this.network.fetch, ...options }: ClientOptions): Baton {
    const { key, url } = this.service
    const address = { ...(url === undefined ? {} : { url }), ...(key === undefined ? {} : { key }) }
    return createBaton({ ...address, fetch, clock: this.clock, ...options })
  }
}

export type GetBench = () => Bench

export function newLockName(): string {
  return `test-${crypto.randomUUID()}`
}

export function describeClient(
  name: string,
  start: () => Promise<ServiceUnderTest>,
  options: SuiteOptions,
): void {
  describe(`the client of ${name}`, () => {
    let service: ServiceUnderTest
    let bench: Bench
    beforeAll(async () => {
      service = await start()
    })
    beforeEach(() => {
      bench = new Bench(service)
    })
    afterAll(() => service?.stop?.())
    const getBench = () => bench
    describeHolding(getBench)
    describeOperations(getBench)
    describeWaiting(getBench)
    describeReading(getBench)
    describeWatching(getBench)
    describeLosses(getBench, options)
  })
}
