/**
 * Invariants of each step of one participant: what may follow what, and what must be durable before what is
 * said.
 */
import type { Context, Effect, Input } from '../../shared/protocols/protocol.ts'
import { entryAt, lengthOf } from '../../shared/protocols/wme/log.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { Durable, WmeState } from '../../shared/protocols/wme/state.ts'
import type { Findings } from './findings.ts'
import type { Seat } from './seat.ts'
import { textOf } from './values.ts'

type Effects = readonly Effect<WmeMessage>[]

export function checkStep(
  findings: Findings,
  context: Context,
  seat: Seat,
  _input: Input<WmeMessage>,
  after: WmeState,
  effects: Effects,
): void {
  const before = seat.state
  checkOrder(findings, context, effects)
  checkTimers(findings, seat, after, effects)
  checkNothingFalls(findings, before, after)
  checkSealed(findings, before, after, effects)
  for (const effect of effects) {
    if (effect.type === 'send') {
      checkSend(findings, context, after.durable, effect.message.body)
      checkMember(findings, context, after, effect.message.body)
    } else if (effect.type === 'emit') checkEmit(findings, after, effect.event)
  }
}

function checkOrder(findings: Findings, context: Context, effects: Effects): void {
  effects.forEach((effect, index) => {
    if (effect.type === 'save' && index !== 0) findings.violate('the save comes first', `at place ${index}`)
    if (effect.type === 'send' && effect.to === context.config.self) {
      findings.violate('nobody sends to itself (A11)', textOf(effect.message.body))
    }
  })
}

/** The state's own list of set timers is what the interpreter was told. */
function checkTimers(findings: Findings, seat: Seat, after: WmeState, effects: Effects): void {
  const timers = new Set(seat.isUp ? Object.keys(seat.state.soft.timers) : [])
  for (const effect of effects) {
    if (effect.type === 'set-timer') timers.add(effect.timer)
    else if (effect.type === 'cancel-timer') timers.delete(effect.timer)
  }
  // The timer that fired is no longer set, unless it was set again.
  for (const timer of Object.keys(after.soft.timers)) {
    if (!timers.has(timer)) findings.violate('a timer that counts as set was set', timer)
  }
}

/** I16. */
function checkNothingFalls(findings: Findings, before: WmeState, after: WmeState): void {
  const fall = (what: string, was: number, is: number) => {
    if (is < was)
      findings.violate('epoch, applied, committed, promised never fall (I16)', `${what} ${was} -> ${is}`)
  }
  const { epoch } = before.durable.epoch
  fall('epoch', epoch, after.durable.epoch.epoch)
  fall('applied', before.durable.progress.applied, after.durable.progress.applied)
  fall('committed', before.soft.committed, after.soft.committed)
  fall('request', before.durable.stub.requestId, after.durable.stub.requestId)
  if (after.durable.epoch.epoch !== epoch) return
  fall('promised', before.durable.paxos.promised, after.durable.paxos.promised)
  fall('ballot', before.durable.paxos.ballot, after.durable.paxos.ballot)
  fall('accepted', before.durable.paxos.accepted?.ballot ?? 0, after.durable.paxos.accepted?.ballot ?? 0)
  fall('length', lengthOf(before.durable), lengthOf(after.durable))
}

/** I4. */
function checkSealed(findings: Findings, before: WmeState, after: WmeState, effects: Effects): void {
  const { epoch, sealed } = before.durable.epoch
  const property = 'nothing is acknowledged or appended after sealing (I4)'
  if (sealed && after.durable.epoch.epoch === epoch) {
    if (!after.durable.epoch.sealed) findings.violate(property, `epoch ${epoch} was unsealed`)
    if (lengthOf(after.durable) !== lengthOf(before.durable)) findings.violate(property, 'the log has grown')
  }
  let isSealed = sealed
  for (const effect of effects) {
    if (effect.type !== 'send') continue
    const { body } = effect.message
    if (body.type === 'new-epoch' && body.epoch === epoch) isSealed = true
    if ((body.type === 'invoke-ack' || body.type === 'invoke') && body.epoch === epoch && isSealed) {
      findings.violate(property, textOf(body))
    }
  }
}

/** What only members say: votes, acknowledgements, entries, and that they are in the epoch. */
const OF_MEMBERS: readonly WmeMessage['type'][] = [
  ...(['invoke', 'invoke-ack', 'do-invoke', 'pre-vote-reply', 'new-epoch', 'installed'] as const),
  ...(['prepare', 'promise', 'accept', 'accepted', 'read-index-reply'] as const),
]

/** M2, M10: nobody speaks in an epoch of which it is no member, or without all that comes before. */
function checkMember(
  findings: Findings,
  context: Context,
  { durable, derived }: WmeState,
  body: WmeMessage,
): void {
  if (!OF_MEMBERS.includes(body.type) || ('epoch' in body && body.epoch < durable.epoch.epoch)) return
  const isMember = durable.membership.status === 'member' && derived.members.includes(context.config.self)
  if (isMember && lengthOf(durable) >= durable.epoch.start) return
  findings.violate('only members with everything speak in an epoch (M2)', textOf(body))
}

/** I17: the durable precondition of each message, by the state that the save before it has stored. */
function checkSend(findings: Findings, context: Context, durable: Durable, body: WmeMessage): void {
  const require = (holds: boolean) => {
    if (!holds) findings.violate('what a message says is durable before it leaves (I17)', textOf(body))
  }
  // What belongs to an epoch that ended in this very step is no longer there to be compared.
  if ('epoch' in body && body.epoch < durable.epoch.epoch) return
  if ('epoch' in body) require(body.epoch === durable.epoch.epoch)
  switch (body.type) {
    case 'request':
      return require(body.participant !== context.config.self || body.requestId <= durable.stub.requestId)
    case 'invoke':
      return require(body.entries.every(entry => entryAt(durable, entry.sequence) === entry))
    case 'invoke-ack':
      return require(body.length <= lengthOf(durable))
    case 'new-epoch':
      return require(
        durable.epoch.sealed && body.entries.every(entry => entryAt(durable, entry.sequence) === entry),
      )
    case 'prepare':
      return require(durable.paxos.ballot >= body.ballot && durable.paxos.promised >= body.ballot)
    case 'promise':
      return require(durable.paxos.promised >= body.ballot)
    case 'accept':
    case 'accepted':
      return require(durable.paxos.accepted !== null && durable.paxos.accepted.ballot >= body.ballot)
  }
}

function checkEmit(
  findings: Findings,
  { durable, soft }: WmeState,
  event: Extract<Effect<WmeMessage>, { type: 'emit' }>['event'],
): void {
  if (event.type === 'crit') {
    for (let at = soft.committed + 1; at < event.sequence; at++) {
      if (entryAt(durable, at)?.kind === 'operation') {
        findings.violate('crit comes after all that precedes the grant is applied (A10)', `operation ${at}`)
      }
    }
  }
  if (event.type === 'outcome') {
    const entry = entryAt(durable, event.sequence)
    const isHeld = entry?.kind === 'operation' && entry.opId === event.opId
    if (!isHeld || event.sequence > soft.committed || durable.progress.applied < event.sequence) {
      findings.violate('an outcome is of a committed and applied operation', textOf(event))
    }
  }
}
