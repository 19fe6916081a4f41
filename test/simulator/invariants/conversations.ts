/**
 * I10 for every protocol: what a stub and its users say to each other, at the stub's side; never a `crit`
 * without a `try`. A crash may swallow what a step wanted to say, but the step has happened, so it is
 * followed here all the same.
 */
import type { Mode, ParticipantId, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import { violate } from '../violation.ts'

export interface Grant {
  readonly user: string
  readonly participant: ParticipantId
  readonly mode: Mode
  readonly fence: number
}

interface User {
  readonly participant: ParticipantId
  /** One of its tries is neither granted nor withdrawn nor refused. */
  isWaiting: boolean
  /** The mode of the try that it waits with. */
  mode: Mode
  grant: Grant | null
  lastFence: number
}

/** What becomes of a grant. */
export interface GrantListener {
  entered(grant: Grant): void
  left(grant: Grant): void
}

export class Conversations {
  readonly #users = new Map<string, User>()
  readonly #listener: GrantListener
  /** By participant. */
  readonly #waiting: Set<string>[]
  readonly #inside: Map<string, Grant>[]

  constructor(participants: number, listener: GrantListener) {
    this.#listener = listener
    this.#waiting = Array.from({ length: participants + 1 }, () => new Set())
    this.#inside = Array.from({ length: participants + 1 }, () => new Map())
  }

  waitingAt = (participant: ParticipantId): ReadonlySet<string> => this.#waiting[participant]!
  insideAt = (participant: ParticipantId): ReadonlyMap<string, Grant> => this.#inside[participant]!

  said(participant: ParticipantId, event: UserInput): void {
    if (event.type !== 'try') return
    const user = this.#users.get(event.user) ?? newUser(participant)
    this.#users.set(event.user, user)
    if (user.participant !== participant)
      violate('I10', `${event.user} of p${user.participant} is heard by p${participant}`)
    if (user.grant !== null || user.isWaiting) return
    user.mode = event.mode ?? 'exclusive'
    this.#wait(event.user, user, true)
  }

  told(participant: ParticipantId, event: UserOutput): void {
    switch (event.type) {
      case 'crit':
        return this.#onCrit(participant, event)
      case 'rem':
        return this.#onRem(event)
      case 'ejected':
        return this.#onEjected(event)
      case 'confirmed':
      case 'kept':
        return this.#require(this.#users.get(event.user)?.grant?.fence === event.fence, event)
      case 'withdrawn': {
        const user = this.#users.get(event.user)
        this.#require(user?.isWaiting === true, event)
        return this.#wait(event.user, user!, false)
      }
      case 'refused': {
        const user = this.#users.get(event.user)
        if (event.event === 'try' && user?.isWaiting) this.#wait(event.user, user, false)
        return
      }
    }
  }

  /** The participant has lost its storage, and with it all its users. Returns those that were inside. */
  wiped(participant: ParticipantId): string[] {
    const inside = [...this.#inside[participant]!.keys()]
    for (const [name, user] of this.#users) {
      if (user.participant !== participant) continue
      if (user.isWaiting) this.#wait(name, user, false)
      if (user.grant !== null) this.#end(user)
    }
    return inside
  }

  #wait(name: string, user: User, isWaiting: boolean): void {
    user.isWaiting = isWaiting
    if (isWaiting) this.#waiting[user.participant]!.add(name)
    else this.#waiting[user.participant]!.delete(name)
  }

  #require(condition: boolean, event: UserOutput & { readonly user: string }): void {
    if (condition) return
    const user = JSON.stringify(this.#users.get(event.user))
    violate('I10', `${event.user} is told ${JSON.stringify(event)}, and the stub knows it as ${user}`)
  }

  #onCrit(participant: ParticipantId, event: Extract<UserOutput, { type: 'crit' }>): void {
    const user = this.#users.get(event.user)
    // A repeated answer.
    if (user !== undefined && user.grant?.fence === event.fence) return
    this.#require(user?.grant === null && user.isWaiting && event.fence > user.lastFence, event)
    this.#require(user!.participant === participant, event)
    const grant: Grant = { user: event.user, participant, mode: user!.mode, fence: event.fence }
    this.#wait(event.user, user!, false)
    user!.grant = grant
    user!.lastFence = event.fence
    this.#inside[participant]!.set(event.user, grant)
    this.#listener.entered(grant)
  }

  #onRem(event: Extract<UserOutput, { type: 'rem' }>): void {
    const user = this.#users.get(event.user)
    // A repeated answer.
    if (user !== undefined && user.grant?.fence !== event.fence && user.lastFence >= event.fence) return
    this.#require(user?.grant?.fence === event.fence, event)
    this.#end(user!)
  }

  #onEjected(event: Extract<UserOutput, { type: 'ejected' }>): void {
    const user = this.#users.get(event.user)
    this.#require(user?.grant?.fence === event.fence, event)
    this.#end(user!)
  }

  #end(user: User): void {
    const grant = user.grant!
    user.grant = null
    this.#inside[grant.participant]!.delete(grant.user)
    this.#listener.left(grant)
  }
}

const newUser = (participant: ParticipantId): User => ({
  participant,
  isWaiting: false,
  mode: 'exclusive',
  grant: null,
  lastFence: 0,
})
