/**
 * What becomes of an input before the rules of a protocol begin, the same in all protocols: the envelope of a
 * message is checked, a timer that has fired is no longer set, a participant that is no member refuses its
 * users, and each kind of input has one handler.
 */
import { type Input, isKnownFormat, type ParticipantId, type Refusal, type UserInput } from './protocol.ts'
import { refuseEvent } from './refusals.ts'
import type { StepOf } from './step.ts'

export interface Handlers<Step, Message, TimerName extends string> {
  start(step: Step, genesis: boolean, incarnation: number): void
  message(step: Step, from: ParticipantId, message: Message): void
  readonly timers: { readonly [timer in TimerName]: (step: Step) => void }
  /** Why an event is not even looked at, like that of a user of a participant that is not a member. */
  refusal(step: Step, event: UserInput): Refusal | null
  readonly users: UserHandlers<Step>
  /** A hint that the transport did not reach a peer. */
  unreachable(step: Step, peer: ParticipantId): void
}

export type UserHandlers<Step> = {
  readonly [Type in UserInput['type']]: (step: Step, event: Extract<UserInput, { type: Type }>) => void
}

export function dispatch<Message, TimerName extends string, Step extends StepOf<Message, TimerName>>(
  handlers: Handlers<Step, Message, TimerName>,
  step: Step,
  input: Input<Message>,
): void {
  switch (input.type) {
    case 'start':
      return handlers.start(step, input.genesis, input.incarnation)
    case 'message': {
      const { format, configuration, body } = input.message
      const isUnderstood = isKnownFormat(format) && configuration === step.context.config.configuration
      return isUnderstood ? handlers.message(step, input.from, body) : undefined
    }
    case 'timer': {
      const timer = input.timer as TimerName
      delete step.timers[timer]
      // A participant may have begun with another protocol, before the lock's was chosen (shared/birth/).
      return Object.hasOwn(handlers.timers, timer) ? handlers.timers[timer](step) : undefined
    }
    case 'user':
      return onUserEvent(handlers, step, input.event)
    case 'unreachable':
      return handlers.unreachable(step, input.peer)
    default:
      return input satisfies never
  }
}

function onUserEvent<Message, TimerName extends string, Step extends StepOf<Message, TimerName>>(
  handlers: Handlers<Step, Message, TimerName>,
  step: Step,
  event: UserInput,
): void {
  const refusal = handlers.refusal(step, event)
  if (refusal !== null) return refuseEvent(step, event, refusal)
  const handle = handlers.users[event.type] as (step: Step, event: UserInput) => void
  handle(step, event)
}
