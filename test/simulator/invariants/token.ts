/**
 * Who has the token, and who wants it.
 *   I11  per epoch at most one unsealed stub holds the token
 *   I12  unsealed in the critical section ⇒ owner
 *   I13  at most one queued request each, newer than granted
 *   I14  requesting ⇒ a repeat timer is armed (a stub that is the owner itself has nobody to ask)
 */
import { inCriticalSection } from '../../../shared/protocols/wme/figure-3-states.ts'
import { violate } from '../violation.ts'
import type { WmeParticipant } from './wme-participant.ts'

export class Token {
  /** By participant, up or down: the epoch in which it holds the token, unsealed; -1 if it does not. */
  readonly #holding: number[]

  constructor(participants: number) {
    this.#holding = new Array(participants + 1).fill(-1)
  }

  stepped(participant: WmeParticipant): void {
    this.followed(participant)
    const { id, state } = participant
    if (state.soft.requests.length > 0) checkRequests(participant)
    const mustRepeat = state.durable.stub.phase === 'requesting' && state.derived.owner !== id
    if (mustRepeat && !participant.isTimerSet('repeat')) {
      violate('I14', `p${id} is requesting, and no repeat timer is set`)
    }
  }

  /**
   * What follows from the durable state alone, so that it also holds for a participant that has just crashed.
   */
  followed({ id, state }: WmeParticipant): void {
    const { durable, derived } = state
    const { epoch, sealed } = durable.epoch
    const isOwner = derived.owner === id && durable.membership.status === 'member'
    this.#holding[id] = isOwner && !sealed ? epoch : -1
    if (isOwner && !sealed) this.#checkAlone(id, epoch)
    if (!isOwner && !sealed && inCriticalSection(durable.stub.phase)) {
      violate(
        'I12',
        `p${id} is in the critical section in epoch ${epoch}, but p${derived.owner} is the owner`,
      )
    }
  }

  #checkAlone(id: number, epoch: number): void {
    for (let other = 1; other < this.#holding.length; other++) {
      if (other !== id && this.#holding[other] === epoch) {
        violate('I11', `p${id} and p${other} both hold the token in epoch ${epoch}`)
      }
    }
  }

  wiped({ id }: WmeParticipant): void {
    this.#holding[id] = -1
  }
}

function checkRequests({ id, state }: WmeParticipant): void {
  const { requests } = state.soft
  const { granted } = state.derived
  let seen = 0
  for (let index = 0; index < requests.length; index++) {
    const { participant, requestId } = requests[index]!
    if ((seen & (1 << participant)) !== 0) violate('I13', `p${id} has two queued requests of p${participant}`)
    seen |= 1 << participant
    if (requestId <= granted[participant]!) {
      violate('I13', `p${id} has a queued request ${requestId} of p${participant}, which was granted`)
    }
    if (participant === id) violate('I13', `p${id} has a queued request of its own`)
  }
}
