/**
 * What the recipes promise, whatever service they run on: the same tests run against the service in memory,
 * where time costs nothing, and against the real one.
 */
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { Bench, type ServiceUnderTest } from '../client/suite.ts'
import { dieEverywhere, type Moment, type Mortal, type Scenario } from './deaths.ts'
import { describeConfiguration } from './suite-configuration.ts'
import { describeCounting } from './suite-counting.ts'
import { describeLeading } from './suite-leading.ts'
import { describeQueue } from './suite-queue.ts'
import { describeReadWriteLock } from './suite-read-write-lock.ts'
import { describeSharing } from './suite-sharing.ts'
import { describeTransfer } from './suite-transfer.ts'

export type { Moment, Mortal }

export interface Kitchen {
  readonly bench: Bench
  /** Each test of the real service takes a few of all moments, because there time is real. */
  dieEverywhere(scenario: Scenario): Promise<number>
}

export type GetKitchen = () => Kitchen

export interface RecipeSuiteOptions {
  readonly moments?: readonly (readonly [at: number, moment: Moment])[]
}

export function describeRecipes(
  name: string,
  start: () => Promise<ServiceUnderTest>,
  { moments }: RecipeSuiteOptions = {},
): void {
  describe(`the recipes on ${name}`, () => {
    let service: ServiceUnderTest
    let kitchen: Kitchen
    beforeAll(async () => {
      service = await start()
    })
    beforeEach(() => {
      const bench = new Bench(service)
      kitchen = { bench, dieEverywhere: scenario => dieEverywhere(bench, scenario, moments) }
    })
    afterAll(() => service?.stop?.())
    const getKitchen = () => kitchen
    describeLeading(getKitchen)
    describeSharing(getKitchen)
    describeReadWriteLock(getKitchen)
    describeQueue(getKitchen)
    describeCounting(getKitchen)
    describeConfiguration(getKitchen)
    describeTransfer(getKitchen)
  })
}

/** Resolves once it is so. */
export async function until(clock: Bench['clock'], isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let round = 0; round < 600; round++) {
    if (await isSo()) return
    await clock.sleep(100)
  }
  throw new Error('it never was so')
}
