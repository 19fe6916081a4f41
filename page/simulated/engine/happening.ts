/** What will happen in a run of the page: the entries of the simulator's queue. */
import type { AnyEnvelope } from '../../../shared/protocols/all.ts'
import type { UserInput } from '../../../shared/protocols/protocol.ts'
import type { Scheduled } from '../../../test/simulator/event-queue.ts'
import type { Timer } from './machine.ts'

export interface Flight {
  /** In the tape's messages. */
  readonly number: number
  readonly envelope: AnyEnvelope
}

export type Happening =
  /** From participant `source` to participant `target`. */
  | Scheduled<'message', Flight>
  | Scheduled<'timer', Timer>
  /** A user or an operator says something to participant `target`. */
  | Scheduled<'said', UserInput>
  /** A user at participant `target` goes on. */
  | Scheduled<'wake', () => void>
