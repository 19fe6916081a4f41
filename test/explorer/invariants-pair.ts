/**
 * Invariants of any two participants of a world, up or down: what one holds, or once held, fits what the
 * other does. What is true of all pairs is true of all, so no property needs the whole world.
 *
 * The search does not visit every world, but for each run one that does the same steps in some order
 * (movers.ts). So a property must not depend on the states of two participants at the same time: what each
 * once held stays in its record, and a violation that was there once can be seen ever after. I11 does depend
 * on that; but who owns follows from the log, so two owners in one epoch either have different logs (I2), or
 * one lacks what it wrote itself (I17, I20).
 */
import { inCriticalSection } from '../../shared/protocols/wme/figure-3-states.ts'
import { entryAt } from '../../shared/protocols/wme/log.ts'
import type { Entry } from '../../shared/protocols/wme/state.ts'
import { resultOf } from '../../shared/resource/replica.ts'
import type { Findings } from './findings.ts'
import type { Seat } from './seat.ts'
import { textOf } from './values.ts'

export function checkPair(findings: Findings, one: Seat, other: Seat): void {
  checkTokens(findings, one, other)
  checkDecisions(findings, one, other)
  checkEntries(findings, one, other)
  checkRolledBack(findings, one, other)
  checkRolledBack(findings, other, one)
  checkCommitted(findings, one, other)
  checkCommitted(findings, other, one)
  checkOperations(findings, one, other)
  checkOperations(findings, other, one)
  checkFences(findings, one, other)
}

const holdsToken = ({ participant, state }: Seat): boolean =>
  state.durable.membership.status === 'member' &&
  !state.durable.epoch.sealed &&
  state.derived.owner === participant

function checkTokens(findings: Findings, one: Seat, other: Seat): void {
  if (!holdsToken(one) || !holdsToken(other)) return
  const epochs = [one.state.durable.epoch.epoch, other.state.durable.epoch.epoch]
  if (epochs[0] === epochs[1]) {
    findings.violate('per epoch at most one unsealed stub holds the token (I11)', `epoch ${epochs[0]}`)
  }
  findings.reach('two tokens in different epochs at once')
  if (inCriticalSection(one.state.durable.stub.phase) && inCriticalSection(other.state.durable.stub.phase)) {
    findings.reach('two users in the critical section at once, in different epochs')
  }
}

/** I1, also for participants that entered an epoch and crashed or went on. */
function checkDecisions(findings: Findings, one: Seat, other: Seat): void {
  for (const epoch of one.record.epochs) {
    const same = other.record.epochs.find(entered => entered.epoch === epoch.epoch)
    if (same !== undefined && textOf(same) !== textOf(epoch)) {
      findings.violate('decisions agree (I1)', `${textOf(epoch)} and ${textOf(same)}`)
    }
  }
}

/** I2. */
function checkEntries(findings: Findings, one: Seat, other: Seat): void {
  const shorter = one.state.durable.log.length < other.state.durable.log.length ? one : other
  const longer = shorter === one ? other : one
  for (const entry of shorter.state.durable.log) {
    const same = entryAt(longer.state.durable, entry.sequence)
    if (same !== undefined) compareEntries(findings, entry, same)
  }
}

function checkRolledBack(findings: Findings, one: Seat, other: Seat): void {
  for (const entry of one.record.rolledBack) {
    const same = entryAt(other.state.durable, entry.sequence)
    if (same !== undefined) compareEntries(findings, entry, same)
    for (const gone of other.record.rolledBack) {
      if (gone.sequence === entry.sequence) compareEntries(findings, entry, gone)
    }
  }
}

function compareEntries(findings: Findings, one: Entry, other: Entry): void {
  if (one === other || one.epoch !== other.epoch || textOf(one) === textOf(other)) return
  findings.violate('one entry per epoch and sequence, ever (I2)', `${textOf(one)} and ${textOf(other)}`)
}

/**
 * I5, I6: what one ever knew to be committed is in the log of everybody that is as far, and of everybody in a
 * later epoch.
 */
function checkCommitted(findings: Findings, one: Seat, other: Seat): void {
  const property = 'what is committed is in every later log, and the same (I5, I6)'
  const { durable } = one.state
  const isEarlier = other.state.durable.epoch.epoch < durable.epoch.epoch
  for (let sequence = durable.base.sequence + 1; sequence <= one.record.committed; sequence++) {
    const entry = entryAt(durable, sequence)
    if (entry === undefined) return findings.violate(property, `${sequence} is gone`)
    for (const { epoch, start } of other.record.epochs) {
      if (epoch > entry.epoch && start < sequence) {
        return findings.violate(property, `${textOf(entry)} is missing in epoch ${epoch}`)
      }
    }
    const same = entryAt(other.state.durable, sequence)
    if (same === undefined || same.epoch === entry.epoch) continue
    // A participant that has not heard of the decision yet may still hold what it rolls back, but never as
    // committed.
    if (!isEarlier || sequence <= other.record.committed) {
      return findings.violate(property, `${textOf(entry)} and ${textOf(same)}`)
    }
  }
}

/** I8, I9: what a user was told about its operation holds at every replica. */
function checkOperations(findings: Findings, one: Seat, other: Seat): void {
  if (one.user === null) return
  for (const { opId, outcome, sequence } of one.user.operations) {
    const stored = resultOf(other.state.durable.replica, opId)
    if (outcome === 'not-applied' && stored !== undefined) {
      findings.violate('an operation reported not-applied is never applied (I9)', opId)
    }
    if (outcome === 'applied' && stored !== undefined && stored.sequence !== sequence) {
      findings.violate('an outcome is the same everywhere (I8)', opId)
    }
  }
}

/** I15. */
function checkFences(findings: Findings, one: Seat, other: Seat): void {
  if (one.user === null || other.user === null) return
  for (const fence of one.user.fences) {
    if (other.user.fences.includes(fence)) findings.violate('fences are unique (I15)', `${fence}`)
  }
}
