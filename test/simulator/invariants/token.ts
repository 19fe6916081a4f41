/**
 * Who has the token, and who wants it.
 *   I11  per epoch at most one unsealed stub holds the token
 *   I12  unsealed in the critical section ⇒ owner
 *   I13  at most one queued request each, newer than granted
 *   B4   after every transition: owner, idle, somebody waits ⇒ it is granted
 */
import { inCriticalSection } from '../../../shared/protocols/wme/figure-3-states.ts'
import { violate } from '../violation.ts'
import { lengthOf, type WmeParticipant } from './wme-participant.ts'

export class Token {
  /** By participant: the epoch in which it holds the token, unsealed; -1 when it does not. Also of those that are down. */
  readonly #holding: number[]

  constructor(participants: number) {
    this.#holding = new Array(participants + 1).fill(-1)
  }

  stepped(participant: WmeParticipant): void {
    this.followed(participant)
    if (participant.state.soft.requests.length > 0) checkRequests(participant)
    if (participant.state.derived.owner === participant.id) checkPassedOn(participant)
  }

  /** What follows from the durable state alone, so that it holds for one that has just crashed as well. */
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

/** Only an owner that is cut off, and has written as much as it may without an answer, keeps a token that somebody wants. */
function checkPassedOn({ id, state, context }: WmeParticipant): void {
  const { durable, soft } = state
  const isFree = durable.stub.phase === 'idle' || durable.stub.phase === 'requesting'
  if (!isFree || durable.epoch.sealed || durable.membership.status !== 'member') return
  const isWanted = soft.requests.length > 0 || durable.waiters.length > 0
  const hasRoom = lengthOf(state) - soft.committed < context.config.limits.uncommitted
  if (isWanted && hasRoom) violate('B4', `p${id} has the token, nobody uses it, somebody wants it, and it stays`)
}
