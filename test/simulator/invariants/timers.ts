/**
 * Timers are set exactly while there is a reason: without one something would wait for ever, with one too many the lock
 * would never fall silent.
 *   I14  requesting ⇒ a repeat timer is armed; so for everything else that must be said until it has had its effect
 */
import { inCriticalSection } from '../../../shared/protocols/wme/figure-3-states.ts'
import type { TimerName } from '../../../shared/protocols/wme/state.ts'
import { violate } from '../violation.ts'
import type { WmeParticipant } from './wme-participant.ts'

/** After a step of a participant that is up. */
export function checkTimers(participant: WmeParticipant): void {
  const { durable, soft } = participant.state
  if (!participant.isTimerSet('repeat')) requireNothingToRepeat(participant)
  const { phase, grant } = durable.stub
  const isInside = inCriticalSection(phase)
  // A grant whose time is over waits for its pending operation alone.
  if (isInside && grant!.ending === null) require(participant, 'ttl', 'somebody is inside')
  if (!isInside) forbid(participant, 'ttl', 'nobody is inside')
  const waitEnds = durable.waiters.some(waiter => waiter.waitUntil !== null)
  if (waitEnds) require(participant, 'wait', 'somebody waits for so long only')
  else forbid(participant, 'wait', 'nobody waits for so long only')
  if (soft.watch === null) {
    forbid(participant, 'heartbeat', 'nobody is watched')
    forbid(participant, 'suspect', 'nobody is watched')
  }
  if (!durable.epoch.sealed) forbid(participant, 'propose', 'the epoch is not sealed')
}

function requireNothingToRepeat(participant: WmeParticipant): void {
  const { id, state, context } = participant
  const { durable, derived } = state
  const { phase, pendingOperation } = durable.stub
  if (context.config.participants === 1) return
  const why =
    durable.membership.status === 'joining'
      ? 'joining'
      : durable.epoch.sealed
        ? 'sealed'
        : phase === 'requesting' && derived.owner !== id
          ? 'requesting'
          : phase === 'entering'
            ? 'entering'
            : pendingOperation !== null
              ? 'issuing'
              : null
  if (why !== null) violate('I14', `p${id} is ${why}, and no repeat timer is set`)
}

function require(participant: WmeParticipant, timer: TimerName, why: string): void {
  if (!participant.isTimerSet(timer)) violate('I14', `p${participant.id} has no timer ${timer}, but ${why}`)
}

function forbid(participant: WmeParticipant, timer: TimerName, why: string): void {
  if (participant.isTimerSet(timer)) violate('quiet', `p${participant.id} has the timer ${timer} set, but ${why}`)
}
