/**
 * G1: whether this participant may vote. Where processes have ledgers, its own ledger must have listed
 * the lock before.
 */
import type { ParticipantId } from '../protocols/protocol.ts'
import { incarnationIn } from './incarnations.ts'
import type { LedgerAnswer } from './ledger-types.ts'
import { dropCore } from './lock-core.ts'
import {
  cancelTimer,
  change,
  type HeldMessage,
  LEDGER_TIMER,
  learnIncarnations,
  type Step,
  setTimer,
} from './lock-state.ts'
import type { BirthRecord, LockContext } from './lock-types.ts'
import type { LockEnvelope } from './messages.ts'

/** Messages that may wait for the ledger; their senders repeat the rest. */
const MAX_HELD = 32

/** `false` until the ledger has said whether anything was lost here. */
export const isStandingKnown = ({ context, state }: Step): boolean => hasStanding(context, state.birth)

export function hasStanding({ hasLedger }: LockContext, { standing }: BirthRecord): boolean {
  return !hasLedger || standing.status === 'entitled' || standing.status === 'lost'
}

export function hold(step: Step, from: ParticipantId, message: LockEnvelope): void {
  const { held } = step.state.soft
  if (held.length < MAX_HELD) held.push({ from, message })
  askLedger(step)
}

/**
 * The token is durable before the question leaves: an object that finds it after a crash has lost nothing.
 */
export function askLedger(step: Step): void {
  const { birth, soft } = step.state
  if (soft.isAsking || isStandingKnown(step)) return
  if (birth.standing.status === 'unknown') {
    change(step, { standing: { status: 'fresh', token: soft.random } })
  }
  const { standing, generation, known } = step.state.birth
  if (standing.status !== 'fresh') return
  soft.isAsking = true
  const incarnation = incarnationIn(known, step.context.self)
  const question = { lock: step.context.lock, generation, token: standing.token, incarnation }
  step.effects.push({ type: 'ask-ledger', question })
  setTimer(step, LEDGER_TIMER, step.context.birth.silentMs)
}

/**
 * Returns the messages that waited for the answer. A ledger that is not ready is asked again when the timer
 * ends.
 */
export function onLedger(step: Step, answer: LedgerAnswer): readonly HeldMessage[] {
  const { birth, soft } = step.state
  const { standing, generation } = birth
  const isStale = standing.status !== 'fresh' || standing.token !== answer.token
  if (isStale || generation !== answer.generation) return []
  const { held } = soft
  soft.held = []
  if (answer.verdict === 'not-ready') {
    soft.notReady = answer.detail ?? ''
    soft.ledgerAttempts++
    const { silentMs } = step.context.birth
    setTimer(step, LEDGER_TIMER, Math.min((silentMs / 4) * soft.ledgerAttempts, 2 * silentMs))
    return held
  }
  soft.notReady = null
  soft.ledgerAttempts = 0
  soft.isAsking = false
  cancelTimer(step, LEDGER_TIMER)
  const { verdict, incarnation, isStrict } = answer
  change(step, { standing: { status: verdict }, incarnation, ...(isStrict && { isStrict }) })
  learnIncarnations(step, answer.known)
  learnIncarnations(step, { [step.context.self]: incarnation })
  meetOlderCore(step)
  return held
}

/** The core of an older lock has waited in storage until the ledger had listed the lock. */
function meetOlderCore(step: Step): void {
  const { birth, core } = step.state
  if (birth.core === null || core !== null) return
  if (birth.standing.status === 'lost') dropCore(step, 'unknown')
  else step.restart = true
}
