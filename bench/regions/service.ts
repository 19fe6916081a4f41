/** What clients use: a lock of Baton, one object, or a store with a leader. */
import type { Place } from './places.ts'

export interface Grant {
  release(answered: () => void): void
}

export interface Service {
  /** Messages between the parts of the service so far; what clients send is not counted. */
  readonly messages: number
  /** Takes the lock, for a client in this place. */
  acquire(from: Place, answered: (grant: Grant) => void): void
  /** One operation under the lock, in as many calls as the service needs. */
  transact(from: Place, answered: () => void): void
}
