/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What people build with locks, on top of the client: each recipe is short, and says what it promises when
 * clients die, stall and repeat themselves. See docs/recipes.md.
 *
 * @example
 * import { createBaton } from '@baton-lock/baton/client'
 * import { LeaderElection } from '@baton-lock/baton/recipes'
 *
 * const baton = createBaton({ url: 'https://baton.example.com', key })
 * const election = new LeaderElection(baton.lock('scheduler'), { name: 'eu-1' })
 */
export { type ArriveOptions, Barrier, type BarrierOptions } from './barrier.ts'
export { Delivery } from './delivery.ts'
export {
  type CampaignOptions,
  type ElectionOptions,
  type Leader,
  LeaderElection,
  Leadership,
} from './leader-election.ts'
export { oncePerSlot, type SlotOptions, type SlotOutcome, slotOf, type Turn } from './once-per-slot.ts'
export { RateLimiter, type RateLimiterOptions, type Taken, type TakeOptions } from './rate-limiter.ts'
export { type Reading, ReadWriteLock, type ReadWriteOptions, type TurnOptions } from './read-write-lock.ts'
export { type AcquirePermitOptions, Permit, Semaphore, type SemaphoreOptions } from './semaphore.ts'
export { type NextOptions, Sequence, type SequenceOptions } from './sequence.ts'
export {
  type ConfigurationOptions,
  type Configured,
  SharedConfiguration,
} from './shared-configuration.ts'
export {
  openTransfers,
  recoverTransfers,
  type TransferOptions,
  type TransferOutcome,
  transfer,
} from './transfer.ts'
export {
  type AddOptions,
  type DeadItem,
  type TakeItemOptions,
  WorkQueue,
  type WorkQueueOptions,
} from './work-queue.ts'
