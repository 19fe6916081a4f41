/**
 * The replicated state machine (wme-consensus) as the explorer sees it. Invariants: what is decided is the
 * same everywhere and stays; what counts as durable is stored; messages say nothing that is not durable;
 * outcomes hold at every replica; fences are unique; each user is told what its automaton allows (user.ts);
 * from every quiet world all users get through (settle.ts).
 *
 * All of it can be told from what each participant holds for good: a decided instance never leaves the log
 * within these bounds. So not every world need be visited (movers.ts).
 *
 * Time stands still, so no participant falls silent by itself: a suspicion means that the transport could not
 * reach a watched peer.
 */
import type { Context, Effect, Input, Protocol, ProtocolOptions } from '../../shared/protocols/protocol.ts'
import type { ConsensusMessage } from '../../shared/protocols/wme-consensus/messages.ts'
import type { ConsensusState, Entry } from '../../shared/protocols/wme-consensus/state.ts'
import { resultOf } from '../../shared/resource/replica.ts'
import { budgetOf } from './bound.ts'
import type { Findings } from './findings.ts'
import { forgetTimes } from './forget-times.ts'
import { checkMembership } from './membership.ts'
import { changesOf, type Menu } from './menu.ts'
import type { Model } from './model.ts'
import type { Seat } from './seat.ts'
import { inputOfAction, inputOfUnreachable } from './seats.ts'
import { actionsOf } from './user.ts'
import { textOf } from './values.ts'

export type ConsensusProtocol = Protocol<ConsensusState, ConsensusMessage>
type ConsensusSeat = Seat<ConsensusState>
type Effects = readonly Effect<ConsensusMessage>[]

export const CONSENSUS_COVERAGE_GOALS = [
  'a user in the critical section',
  'an operation applied',
  'a suspicion passed on to the one that is suspected',
  'a new coordinator',
  'a user ejected',
  'caught up',
  'a crash between a save and what is sent',
  'recovered in the critical section',
] as const

export type ConsensusSometimes = (typeof CONSENSUS_COVERAGE_GOALS)[number]

/**
 * The two forms differ in what a suspicion can meet. With three participants and in the latency-optimal form
 * an acceptor has a majority with the coordinator as soon as it accepts, so it has nothing undecided to tell
 * a new coordinator. In the message-optimal form it has, until the coordinator says what is decided.
 */
export type ConsensusForm = NonNullable<ProtocolOptions['consensus']>

export const consensusModel = (
  protocol: ConsensusProtocol,
  consensus: ConsensusForm = 'latency-optimal',
): Model<ConsensusState, ConsensusMessage> => ({
  protocol,
  options: { consensus },
  mayReduce: true,
  coverageGoals: CONSENSUS_COVERAGE_GOALS,
  recorded: record => record,
  normalise,
  checkStep,
  noteStep,
  checkSeat: (findings, context, seat) => checkSeat(findings, context, protocol, seat),
  checkPair,
  menuOf,
})

/**
 * As for wme (normalise.ts): both counters only say how long to wait, or when to fall silent. Fixed at 0 it
 * never falls silent, and the search has every run of the original and those in which it repeats longer. The
 * detector's times are about intervals, too, and so are the calls; here an operator waits for ever.
 */
function normalise(_context: Context, { soft }: ConsensusState): void {
  soft.calls = 0
  for (const change of soft.changes) change.invitations = 0
  // Both are sets.
  soft.asked = soft.asked.map(asked => ({ ...asked, heard: [...asked.heard].sort() }))
  soft.installed.sort()
  soft.repeatAttempts = 0
  soft.idleRepeats = 0
  forgetTimes(soft.detector)
  soft.beat.dueAt = 0
  soft.beat.repeatedAt = null
}

// ---------------------------------------------------------------- of one step

function checkStep(
  findings: Findings,
  { config }: Context,
  seat: ConsensusSeat,
  _input: Input<ConsensusMessage>,
  { durable }: ConsensusState,
  effects: Effects,
): void {
  const before = seat.state.durable
  checkMembership(findings, before.membership.status, durable.membership.status, effects)
  // One that is removed by this very step has accepted the change before.
  const isMember = [before, durable].some(({ membership }) => membership.status === 'member')
  const fall = (what: string, was: number, is: number) => {
    if (is < was) findings.violate('applied and promised never fall (I16)', `${what} ${was} -> ${is}`)
  }
  fall('applied', before.machine.applied, durable.machine.applied)
  fall('promised', before.acceptor.promised, durable.acceptor.promised)
  fall('fence', before.machine.latestFence, durable.machine.latestFence)
  for (const [index, effect] of effects.entries()) {
    if (effect.type === 'save' && index !== 0) findings.violate('the save comes first', `at place ${index}`)
    if (effect.type !== 'send') continue
    if (effect.to === config.self) findings.violate('nobody sends to itself (A11)', `${config.self}`)
    if (!isMember && OF_MEMBERS.has(effect.message.body.type)) {
      const said = textOf(effect.message.body)
      findings.violate('only members propose, promise and accept (M2)', `${config.self} says ${said}`)
    }
    if (!isDurable(durable, effect.message.body)) {
      const said = textOf(effect.message.body)
      findings.violate('what a message says is durable before it leaves (I17)', said)
    }
  }
}

const OF_MEMBERS: ReadonlySet<string> = new Set(['prepare', 'promise', 'propose', 'ack', 'decision'])

function isDurable({ acceptor, log, machine }: ConsensusState['durable'], body: ConsensusMessage): boolean {
  switch (body.type) {
    case 'prepare':
    case 'promise':
      return acceptor.promised >= body.ballot
    case 'propose':
      return acceptor.prepared >= body.ballot
    case 'ack':
      return body.through <= Math.max(machine.applied, log.at(-1)?.position ?? 0)
    case 'decision':
      return body.decided <= machine.applied
    default:
      return true
  }
}

function noteStep(
  findings: Findings,
  _context: Context,
  seat: ConsensusSeat,
  input: Input<ConsensusMessage>,
  { durable }: ConsensusState,
  effects: Effects,
): void {
  const reach = (name: ConsensusSometimes) => findings.reach(name)
  const before = seat.state
  for (const effect of effects) {
    if (effect.type !== 'emit') continue
    if (effect.event.type === 'crit') reach('a user in the critical section')
    if (effect.event.type === 'applied') reach('an operation applied')
    if (effect.event.type === 'ejected') reach('a user ejected')
  }
  const isPrepared = durable.acceptor.prepared > before.durable.acceptor.prepared
  if (isPrepared && input.type === 'message') reach('a new coordinator')
  const isAlive = input.type === 'message' && input.message.body.type === 'alive'
  if (isAlive && Object.keys(before.soft.voters).length > 0)
    reach('a suspicion passed on to the one that is suspected')
  const isCatchUp = input.type === 'message' && input.message.body.type === 'catch-up'
  if (isCatchUp && durable.machine.applied > before.durable.machine.applied) reach('caught up')
  const isRecovery = input.type === 'start' && !input.genesis
  if (isRecovery && durable.stub.grant !== null) reach('recovered in the critical section')
}

// ---------------------------------------------------------------- of one participant

function checkSeat(
  findings: Findings,
  context: Context,
  protocol: ConsensusProtocol,
  seat: ConsensusSeat,
): void {
  const { durable } = protocol.recover(context, seat.storage.records)
  for (const part of Object.keys(durable) as (keyof typeof durable)[]) {
    const stored = textOf(durable[part])
    const held = textOf(seat.state.durable[part])
    if (stored !== held)
      findings.violate('what counts as durable is stored (I20)', `${part}: ${stored} for ${held}`)
  }
  if (isEmptied(seat)) return
  for (const { opId, outcome, sequence } of seat.user?.operations ?? []) {
    if (outcome !== 'applied') continue
    const stored = resultOf(seat.state.durable.replica, opId)
    if (stored?.sequence !== sequence) findings.violate('an outcome is of an applied operation (I8)', opId)
  }
}

// ---------------------------------------------------------------- of two participants

/** It was removed and keeps only a tombstone. */
const isEmptied = ({ state: { durable } }: ConsensusSeat): boolean =>
  durable.membership.status === 'removed' && !durable.membership.hasData

const decidedOf = ({ state }: ConsensusSeat): Entry[] =>
  state.durable.log.filter(({ position }) => position <= state.durable.machine.applied)

function checkPair(findings: Findings, one: ConsensusSeat, other: ConsensusSeat): void {
  const decided = new Map(decidedOf(other).map(entry => [entry.position, entry]))
  for (const entry of decidedOf(one)) {
    const same = decided.get(entry.position)
    if (same === undefined || textOf(same.command) === textOf(entry.command)) continue
    const detail = `${textOf(entry)} and ${textOf(same)}`
    findings.violate('what is decided is the same everywhere (I1, I18)', detail)
  }
  checkMachines(findings, one, other)
  checkOutcomes(findings, one, other)
  checkOutcomes(findings, other, one)
  for (const fence of one.user?.fences ?? []) {
    if (other.user?.fences.includes(fence)) findings.violate('fences are unique (I15)', `${fence}`)
  }
}

/** I6, I7. */
function checkMachines(findings: Findings, seat: ConsensusSeat, peer: ConsensusSeat): void {
  const [one, other] = [seat.state, peer.state]
  if (one.durable.machine.applied !== other.durable.machine.applied) return
  if (isEmptied(seat) || isEmptied(peer)) return
  const textIn = ({ durable }: ConsensusState) => textOf([durable.machine, durable.replica])
  if (textIn(one) !== textIn(other)) {
    const detail = `${textIn(one)} and ${textIn(other)}`
    findings.violate('participants that have applied as much have the same state (I6, I7)', detail)
  }
}

/** I8, I9: what a user was told about its operation holds at every replica. */
function checkOutcomes(findings: Findings, { user }: ConsensusSeat, { state }: ConsensusSeat): void {
  for (const { opId, outcome, sequence } of user?.operations ?? []) {
    const stored = resultOf(state.durable.replica, opId)
    if (stored === undefined) continue
    if (outcome === 'not-applied')
      findings.violate('an operation reported not-applied is never applied (I9)', opId)
    if (outcome === 'applied' && stored.sequence !== sequence)
      findings.violate('an outcome is the same everywhere (I8)', opId)
  }
}

// ---------------------------------------------------------------- what it may do

const OPERATIONS = budgetOf('operations')
const WITHDRAWALS = budgetOf('withdrawals')

function menuOf({ isUp, participant, state, user }: ConsensusSeat): Menu {
  const { timers, watched, silent, voters } = state.soft
  const actions = (user === null ? [] : actionsOf(user)).map(action => ({
    input: inputOfAction(action),
    budget: action === 'issue' ? OPERATIONS : action === 'withdraw' ? WITHDRAWALS : -1,
  }))
  return {
    isUp,
    user: [...actions, ...changesOf(participant, state.durable.membership.status === 'member')],
    flushes: [],
    suspicions: watched.filter(peer => !silent.includes(peer)).map(inputOfUnreachable),
    isAsked: Object.keys(voters).length > 0,
    canExpire: timers.ttl === true,
    canRepeat: timers.repeat === true,
    isChanging: state.soft.changes.length > 0,
    canCall: timers.members === true,
    canPropose: false,
    rounds: 0,
    canBeat: timers.heartbeat === true,
  }
}
