/**
 * An operator forces the present holders out. In these protocols nobody knows who is inside elsewhere, so
 * every participant is asked; one that has users inside is then told which grants must end. A question that
 * arrives late or twice therefore never forces out a user that came in afterwards.
 */
import type { Effect, ParticipantId, UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { emit, send } from '../step.ts'
import type { LocalQueueStep } from './local-queue.ts'
import { eject } from './users.ts'

/**
 * Contains the number of the asker's life, so that a late answer to a question of an earlier life is not
 * taken for an answer to a question of this one.
 */
type Round = string

export type OperatorMessage =
  | { readonly type: 'who-is-inside'; readonly round: Round }
  | { readonly type: 'inside'; readonly round: Round; readonly fences: readonly number[] }
  | { readonly type: 'eject'; readonly round: Round; readonly fences: readonly number[] }
  | { readonly type: 'ejected'; readonly round: Round }

/** Soft state: an operator whose participant restarts asks again. */
export interface Ejection {
  readonly request: string
  readonly round: Round
  /** The grant that must end; `null` means whichever there is. */
  readonly fence: number | null
  /** Whoever comes in later, at a participant that was away until then, is not meant. */
  readonly until: number
  /** Whether the grant in question was found inside. */
  isFound: boolean
  /** By participant: `null` until it has said who is inside there; after that, the grants that must end. */
  readonly open: { [participant: string]: readonly number[] | null }
}

/** Longer than an operator waits for an answer. */
const EJECT_MS = 15_000

export interface Operators {
  life: number
  rounds: number
  ejections: Ejection[]
}

export const noOperators = (): Operators => ({ life: 0, rounds: 0, ejections: [] })

export interface OperatorStep extends LocalQueueStep {
  readonly effects: { push(effect: Effect<OperatorMessage>): unknown }
  readonly operators: Operators
}

export function onEject(
  step: OperatorStep,
  event: Extract<UserInput, { type: 'eject' }>,
  others: readonly ParticipantId[],
): void {
  const { operators } = step
  if (operators.ejections.length >= step.context.config.limits.waiters) {
    return refuse(step, event.request, 'eject', { code: 'too-many-waiters' })
  }
  operators.rounds++
  const fence = event.fence ?? null
  const here = step.localQueue.holders.filter(holder => fence === null || holder.fence === fence)
  for (const holder of here) eject(step, holder, 'operator')
  const ejection: Ejection = {
    request: event.request,
    round: `${operators.life}/${operators.rounds}`,
    fence,
    until: step.now + EJECT_MS,
    isFound: here.length > 0,
    open: Object.fromEntries(others.map(peer => [peer, null])),
  }
  operators.ejections.push(ejection)
  ask(step, ejection)
  finishEjections(step)
}

/** Must be called whenever unanswered messages are repeated. Nobody waits for an old ejection any more. */
export function repeatEjections(step: OperatorStep): void {
  const { operators } = step
  operators.ejections = operators.ejections.filter(({ until }) => step.now < until)
  for (const ejection of operators.ejections) ask(step, ejection)
}

function ask(step: OperatorStep, { round, open }: Ejection): void {
  for (const [peer, fences] of Object.entries(open)) {
    send<OperatorMessage>(
      step,
      Number(peer),
      fences === null ? { type: 'who-is-inside', round } : { type: 'eject', round, fences },
    )
  }
}

/** Whether anything must be repeated. */
export const hasEjections = (step: OperatorStep): boolean => step.operators.ejections.length > 0

export function onOperatorMessage(step: OperatorStep, from: ParticipantId, message: OperatorMessage): void {
  const { round } = message
  switch (message.type) {
    case 'who-is-inside':
      return send<OperatorMessage>(step, from, {
        type: 'inside',
        round,
        fences: step.localQueue.holders.map(({ fence }) => fence),
      })
    case 'inside': {
      const ejection = step.operators.ejections.find(asked => asked.round === round)
      if (ejection?.open[from] !== null) return
      const fences = message.fences.filter(fence => ejection.fence === null || ejection.fence === fence)
      if (fences.length === 0) return settle(step, ejection, from)
      ejection.isFound = true
      ejection.open[from] = fences
      return send<OperatorMessage>(step, from, { type: 'eject', round, fences })
    }
    case 'eject':
      for (const holder of [...step.localQueue.holders]) {
        if (message.fences.includes(holder.fence)) eject(step, holder, 'operator')
      }
      return send<OperatorMessage>(step, from, { type: 'ejected', round })
    case 'ejected': {
      const ejection = step.operators.ejections.find(asked => asked.round === round)
      return ejection === undefined ? undefined : settle(step, ejection, from)
    }
    default:
      return message satisfies never
  }
}

function settle(step: OperatorStep, ejection: Ejection, from: ParticipantId): void {
  delete ejection.open[from]
  finishEjections(step)
}

/** A participant that is no longer a member is no longer asked. */
export function forgetMember(step: OperatorStep, member: ParticipantId): void {
  for (const ejection of step.operators.ejections) delete ejection.open[member]
  finishEjections(step)
}

const isSettled = (open: Ejection['open']): boolean => Object.keys(open).length === 0

function finishEjections(step: OperatorStep): void {
  const { operators } = step
  for (const { request, open, fence, isFound } of operators.ejections) {
    if (!isSettled(open)) continue
    if (fence !== null && !isFound) refuse(step, request, 'eject', { code: 'conflict' })
    else emit(step, { type: 'eject-done', request, epoch: 0 })
  }
  operators.ejections = operators.ejections.filter(({ open }) => !isSettled(open))
}
