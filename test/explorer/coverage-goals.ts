/**
 * Coverage goals: what a search must have reached at least once to be worth anything. All but the two in
 * invariants-pair.ts show in one step of one participant.
 */
import type { Context, Effect, Input } from '../../shared/protocols/protocol.ts'
import { inCriticalSection } from '../../shared/protocols/wme/figure-3-states.ts'
import { entryAt, lengthOf } from '../../shared/protocols/wme/log.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import type { Findings } from './findings.ts'
import type { Seat } from './seat.ts'

export const COVERAGE_GOALS = [
  'a user in the critical section',
  'an operation applied by acknowledgements',
  'a token passed on by an idle stub',
  'an entry of the log again, and ignored',
  'a suspicion refuted',
  'an epoch changed',
  'an owner kept its token in a new epoch',
  'a user ejected',
  'a user ejected with a pending operation',
  'an outcome and an ejection in one step',
  'an operation applied through a decision',
  'a pending operation issued again in a new epoch',
  'a grant rolled back',
  'an operation rolled back',
  'a ballot rejected',
  'a value taken over from an earlier ballot',
  'caught up within an epoch',
  'caught up with a later epoch',
  'a crash between a save and what is sent',
  'a recovered owner that still owns',
  'recovered in the critical section',
  'recovered in a sealed epoch',
  'an event said again after a crash, and answered',
  'a newcomer brought up to date',
  'a newcomer became a member',
  'a member removed',
  'a tombstone',
  'a holder that stayed while the members changed',
  'two tokens in different epochs at once',
  'two users in the critical section at once, in different epochs',
] as const

export type CoverageGoal = (typeof COVERAGE_GOALS)[number]

type Effects = readonly Effect<WmeMessage>[]

export function noteStep(
  findings: Findings,
  context: Context,
  seat: Seat,
  input: Input<WmeMessage>,
  after: WmeState,
  effects: Effects,
): void {
  const reach = (name: CoverageGoal) => findings.reach(name)
  noteEmitted(reach, seat, after, effects)
  noteLog(reach, context, seat.state, input, after)
  noteMembers(reach, seat.state, after)
  if (input.type === 'start' && !input.genesis) noteRecovery(reach, context, after)
  if (input.type === 'message') noteMessage(reach, seat.state, input.message.body, after)
  const isSaidAgain = seat.user?.mustRepeat === true && input.type === 'user'
  if (isSaidAgain && effects.some(({ type }) => type === 'emit')) {
    reach('an event said again after a crash, and answered')
  }
}

function noteEmitted(
  reach: (name: CoverageGoal) => void,
  seat: Seat,
  after: WmeState,
  effects: Effects,
): void {
  const events = effects.filter(effect => effect.type === 'emit').map(({ event }) => event)
  const isNewEpoch = after.durable.epoch.epoch > seat.state.durable.epoch.epoch
  for (const event of events) {
    if (event.type === 'crit') reach('a user in the critical section')
    if (event.type === 'applied') {
      reach(
        isNewEpoch ? 'an operation applied through a decision' : 'an operation applied by acknowledgements',
      )
    }
    if (event.type !== 'ejected') continue
    reach('a user ejected')
    if (event.pending !== undefined) reach('a user ejected with a pending operation')
    if (events.some(({ type }) => type === 'outcome')) reach('an outcome and an ejection in one step')
  }
}

function noteLog(
  reach: (name: CoverageGoal) => void,
  context: Context,
  before: WmeState,
  input: Input<WmeMessage>,
  after: WmeState,
): void {
  const { self } = context.config
  const entries =
    input.type === 'message' && input.message.body.type === 'invoke' ? input.message.body.entries : []
  if (entries.some(({ sequence }) => sequence <= lengthOf(before.durable))) {
    reach('an entry of the log again, and ignored')
  }
  const granted = entries.at(-1)
  const isForIdle = granted?.kind === 'grant' && granted.to === self && before.durable.stub.phase === 'idle'
  if (isForIdle && after.derived.owner !== self) reach('a token passed on by an idle stub')
  if (after.durable.epoch.epoch === before.durable.epoch.epoch) return
  reach('an epoch changed')
  if (before.derived.owner === self && after.durable.epoch.owner === self) {
    reach('an owner kept its token in a new epoch')
  }
  for (const entry of before.durable.log) {
    if (entryAt(after.durable, entry.sequence)?.epoch === entry.epoch) continue
    reach(entry.kind === 'grant' ? 'a grant rolled back' : 'an operation rolled back')
  }
  const pending = before.durable.stub.pendingOperation
  const still = after.durable.stub.pendingOperation
  if (pending !== null && pending.sequence !== null && still?.opId === pending.opId) {
    reach('a pending operation issued again in a new epoch')
  }
}

function noteRecovery(
  reach: (name: CoverageGoal) => void,
  context: Context,
  { durable, derived }: WmeState,
): void {
  if (derived.owner === context.config.self) reach('a recovered owner that still owns')
  if (inCriticalSection(durable.stub.phase)) reach('recovered in the critical section')
  if (durable.epoch.sealed) reach('recovered in a sealed epoch')
}

function noteMessage(
  reach: (name: CoverageGoal) => void,
  before: WmeState,
  body: WmeMessage,
  after: WmeState,
): void {
  if (before.soft.watch?.silent && after.soft.watch?.silent === false) reach('a suspicion refuted')
  if (body.type === 'reject' && before.soft.proposal?.ballot === body.ballot) reach('a ballot rejected')
  if (body.type === 'promise' && before.soft.proposal?.value === null && after.soft.proposal?.value) {
    const earlier = after.soft.proposal.promises.some(
      promise => promise?.value === after.soft.proposal!.value,
    )
    if (earlier) reach('a value taken over from an earlier ballot')
  }
  if (body.type !== 'catch-up') return
  if (after.durable.epoch.epoch > before.durable.epoch.epoch) reach('caught up with a later epoch')
  else if (lengthOf(after.durable) > lengthOf(before.durable)) reach('caught up within an epoch')
}

function noteMembers(
  reach: (name: CoverageGoal) => void,
  { durable: before }: WmeState,
  { durable: after }: WmeState,
): void {
  const [was, is] = [before.membership, after.membership]
  if (is.status === 'joining' && is.isPrimed) reach('a newcomer brought up to date')
  if (was.status === 'joining' && was.isPrimed && is.status === 'member') reach('a newcomer became a member')
  if (was.status === 'member' && is.status === 'removed') reach('a member removed')
  if (is.status === 'removed' && !is.hasData) reach('a tombstone')
  const isInside =
    inCriticalSection(before.stub.phase) && before.stub.grant?.fence === after.stub.grant?.fence
  if (isInside && before.epoch.set !== after.epoch.set)
    reach('a holder that stayed while the members changed')
}
