/**
 * I10: the user automaton, at the stub's side of the conversation; never more crit than try. A crash may
 * swallow what a step wanted to say, but the step has happened, so it is followed here all the same.
 *
 * Also here: everything that precedes a grant has been applied when its user is let in (trap A10), and an
 * ejection says what became of the operation that was pending (trap A4).
 */
import type { ParticipantId, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import { fenceOf } from '../../../shared/protocols/wme/fence.ts'
import { inCriticalSection } from '../../../shared/protocols/wme/figure-3-states.ts'
import type { StubRecord } from '../../../shared/protocols/wme/state.ts'
import { violate } from '../violation.ts'
import type { SerialCopy } from './serial-copy.ts'
import { stored, type WmeParticipant } from './wme-participant.ts'

interface User {
  readonly participant: ParticipantId
  tries: number
  crits: number
  /** Inside with this fence. */
  fence: number | null
  /** The highest fence that it ever had. */
  lastFence: number
  pending: string | null
  /** Every `try` since its last grant asked for a confirmed one. */
  wantsConfirmed: boolean
}

const NEW_USER = { crits: 0, fence: null, lastFence: 0, pending: null } as const

export class Users {
  readonly #users = new Map<string, User>()
  /** Which user was given which fence. */
  readonly #fences = new Map<number, string>()
  readonly #serial: SerialCopy

  constructor(serial: SerialCopy) {
    this.#serial = serial
  }

  said(participant: ParticipantId, event: UserInput): void {
    if (event.type !== 'try') return
    const user = this.#users.get(event.user)
    const wantsConfirmed = event.confirm === true
    if (user !== undefined) {
      user.tries++
      user.wantsConfirmed &&= wantsConfirmed
    } else {
      this.#users.set(event.user, { ...NEW_USER, participant, tries: 1, wantsConfirmed })
    }
  }

  told(participant: WmeParticipant, event: UserOutput): void {
    switch (event.type) {
      case 'crit':
        return this.#onCrit(participant, event)
      case 'outcome':
        return this.#onOutcome(participant.id, event)
      case 'ejected':
        return this.#onEjected(participant.id, event)
      case 'rem':
        return this.#onRem(event)
      case 'confirmed':
        this.#require(this.#users.get(event.user)?.fence === event.fence, event)
        return
      case 'refused':
        return this.#serial.refused(participant.id, event)
    }
  }

  #require(condition: boolean, event: UserOutput & { readonly user: string }): void {
    if (condition) return
    const user = JSON.stringify(this.#users.get(event.user))
    violate('I10', `${event.user} is told ${JSON.stringify(event)}, and the stub knows it as ${user}`)
  }

  #onCrit(participant: WmeParticipant, event: Extract<UserOutput, { type: 'crit' }>): void {
    const user = this.#users.get(event.user)
    // A repeated answer.
    if (user !== undefined && user.fence === event.fence) return
    this.#require(user !== undefined && user.fence === null && event.fence > user.lastFence, event)
    const { id, state } = participant
    const { fence, epoch, sequence } = event
    const holder = this.#fences.get(fence)
    if (holder !== undefined) violate('I15', `fence ${fence} is given to ${holder} and to ${event.user}`)
    this.#fences.set(fence, event.user)
    if (fence !== fenceOf(epoch, sequence))
      violate('I15', `fence ${fence} is not that of (${epoch}, ${sequence})`)
    user!.crits++
    this.#require(user!.crits <= user!.tries, event)
    this.#require(event.confirmed || !user!.wantsConfirmed, event)
    user!.wantsConfirmed = true
    user!.fence = fence
    user!.lastFence = fence
    user!.pending = null
    if (!this.#serial.hasAllBeforeFence(id, fence)) {
      violate('A10', `${event.user} is let in at ${sequence} before p${id} has applied what precedes it`)
    }
    const { log } = state.durable
    for (let index = log.length - 1; index >= 0 && log[index]!.sequence > state.soft.committed; index--) {
      if (log[index]!.kind === 'grant' || log[index]!.sequence > sequence) continue
      violate(
        'A10',
        `${event.user} is let in at ${sequence}, but ${log[index]!.sequence} is not applied at p${id}`,
      )
    }
  }

  #onOutcome(participant: ParticipantId, event: Extract<UserOutput, { type: 'outcome' }>): void {
    this.#serial.outcome(participant, event.opId, event.sequence, event.result)
    const user = this.#users.get(event.user)
    if (user?.fence === event.fence && user.pending === event.opId) user.pending = null
  }

  #onEjected(participant: ParticipantId, event: Extract<UserOutput, { type: 'ejected' }>): void {
    const user = this.#users.get(event.user)
    this.#require(user !== undefined && user.fence === event.fence, event)
    this.#require(event.pending?.opId === (user!.pending ?? undefined), event)
    if (event.pending?.outcome === 'not-applied') {
      this.#serial.failed(participant, event.fence, event.pending.opId)
    }
    user!.fence = null
    user!.pending = null
  }

  #onRem(event: Extract<UserOutput, { type: 'rem' }>): void {
    const user = this.#users.get(event.user)
    // A repeated answer.
    if (user !== undefined && user.fence !== event.fence && user.lastFence >= event.fence) return
    this.#require(user !== undefined && user.fence === event.fence && user.pending === null, event)
    user!.fence = null
  }

  /** Called after the step: what is pending now must be answered one day. */
  stepped({ state }: WmeParticipant): void {
    const { grant, pendingOperation } = state.durable.stub
    if (grant === null || pendingOperation === null) return
    const user = this.#users.get(grant.user)
    if (user?.fence !== grant.fence) return
    if (user.pending !== null && user.pending !== pendingOperation.opId) {
      violate('I10', `the operation ${user.pending} of ${grant.user} was never answered`)
    }
    user.pending = pendingOperation.opId
  }

  /** An operation may be pending again that was answered, and its user inside again that has left with it. */
  fellBack(participant: WmeParticipant): void {
    const { grant, pendingOperation, phase } = stored<StubRecord>(participant, 'stub')
    const isInside = grant !== null && inCriticalSection(phase)
    const user = isInside ? this.#users.get(grant.user) : undefined
    if (user === undefined) return
    user.fence = grant!.fence
    user.pending = pendingOperation?.opId ?? null
  }

  wiped({ id }: WmeParticipant): void {
    for (const user of this.#users.values()) {
      if (user.participant !== id) continue
      user.fence = null
      user.pending = null
    }
  }
}
