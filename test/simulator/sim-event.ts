/**
 * What can happen in the simulated world. `target` and `source` are participants or clients, depending on the
 * kind.
 */
import type { Envelope, UserInput, UserOutput } from '../../shared/protocols/protocol.ts'
import type { Scheduled } from './event-queue.ts'
import type { TimerSlot } from './participant.ts'

export type SimEvent<Message> =
  /** From participant `source` to participant `target`. */
  | Scheduled<'message', Envelope<Message>>
  | Scheduled<'timer', TimerSlot>
  /** From client `source` to participant `target`. */
  | Scheduled<'to-stub', UserInput>
  /** From participant `source` to client `target`. */
  | Scheduled<'to-user', UserOutput>
  /** Client `target` goes on, unless something else has happened to it since. */
  | Scheduled<'wake', number>
  /** Participant `target` is told that it cannot reach participant `source`. */
  | Scheduled<'unreachable', null>
  /** Faults begin and end, phases change. */
  | Scheduled<'action', () => void>
