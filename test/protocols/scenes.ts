/** Scenes that many tests begin with, and what they look at afterwards. */
import type { Json } from '../../shared/json.ts'
import type { Emitted, Protocol, UserInput } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { Entry, WmeState } from '../../shared/protocols/wme/state.ts'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import { readKey } from '../../shared/resource/key-value.ts'
import type { Cluster, Sent } from './cluster.ts'
import { among } from './matchers.ts'

/** For `describe.each`: what holds for one protocol holds for the other. */
export const protocols: [string, Protocol<WmeState, WmeMessage>][] = [
  ['wme-1', wme1],
  ['wme-2', wme2],
]

// ---------------------------------------------------------------- users

/** A user in its critical section. */
export interface Holder {
  readonly participant: number
  readonly user: string
  readonly fence: number
  readonly epoch: number
  readonly sequence: number
}

type TryOptions = { ttlMs?: number; waitMs?: number; confirm?: boolean }

/** The user tries, everything is delivered, and it must be in. */
export function enter(cluster: Cluster, participant: number, user: string, options: TryOptions = {}): Holder {
  cluster.try(participant, user, options)
  if (cluster.isUp(participant)) cluster.deliver()
  return holder(cluster, participant, user)
}

/** The last `crit` of this user. */
export function holder(cluster: Cluster, participant: number, user: string): Holder {
  const crit = eventsOf(cluster, participant, 'crit').findLast(event => event.user === user)
  if (crit === undefined) throw new Error(`${user} was not let in at participant ${participant}`)
  const { fence, epoch, sequence } = crit
  return { participant, user, fence, epoch, sequence }
}

export const isIn = (cluster: Cluster, participant: number, user: string): boolean => {
  const { grant, phase } = cluster.state(participant).durable.stub
  return grant?.user === user && (phase === 'cs-idle' || phase === 'cs-issuing')
}

export const INCREMENT: Json = [{ increment: 'n' }]

export function issue(cluster: Cluster, by: Holder, opId: string, operation: Json = INCREMENT): Emitted[] {
  return cluster.user(by.participant, { type: 'issue', user: by.user, fence: by.fence, opId, operation })
}

export function exit(cluster: Cluster, by: Holder): Emitted[] {
  return cluster.user(by.participant, { type: 'exit', user: by.user, fence: by.fence })
}

export function keepAlive(cluster: Cluster, by: Holder, ttlMs: number): Emitted[] {
  const event: UserInput = { type: 'keep-alive', user: by.user, fence: by.fence, ttlMs }
  return cluster.user(by.participant, event)
}

export const withdraw = (cluster: Cluster, participant: number, user: string): Emitted[] =>
  cluster.user(participant, { type: 'withdraw', user })

export const ejectHolder = (cluster: Cluster, participant: number, request: string): Emitted[] =>
  cluster.user(participant, { type: 'eject', request })

// ---------------------------------------------------------------- what happened

/** What this participant emitted, in order: all of it or one type. */
export function eventsOf<Type extends Emitted['type']>(
  cluster: Cluster,
  participant: number,
  type: Type,
): Extract<Emitted, { type: Type }>[] {
  const found: Extract<Emitted, { type: Type }>[] = []
  for (const { participant: by, event } of cluster.emitted) {
    if (by === participant && event.type === type) found.push(event as Extract<Emitted, { type: Type }>)
  }
  return found
}

/** The types of what this participant emitted, in order, except the notes that a grant is committed. */
export const eventTypes = (cluster: Cluster, participant: number): string[] =>
  cluster.emitted
    .filter(({ participant: by, event }) => by === participant && event.type !== 'granted')
    .map(({ event }) => event.type)

export const appliedAt = (cluster: Cluster, participant: number): string[] =>
  eventsOf(cluster, participant, 'applied').map(event => event.opId)

export const valueAt = (cluster: Cluster, participant: number, key = 'n'): Json =>
  readKey(cluster.state(participant).durable.replica.cells, key).value

export const epochOf = (cluster: Cluster, participant: number): number =>
  cluster.state(participant).durable.epoch.epoch

export const ownerAt = (cluster: Cluster, participant: number): number =>
  cluster.state(participant).derived.owner

export const logAt = (cluster: Cluster, participant: number): Entry[] =>
  cluster.state(participant).durable.log

export const phaseAt = (cluster: Cluster, participant: number): string =>
  cluster.state(participant).durable.stub.phase

export const isSealed = (cluster: Cluster, participant: number): boolean =>
  cluster.state(participant).durable.epoch.sealed

/** The participants that are up. */
export function upAt(cluster: Cluster): number[] {
  const up: number[] = []
  for (let id = 1; id <= cluster.participants; id++) if (cluster.isUp(id)) up.push(id)
  return up
}

// ---------------------------------------------------------------- suspicion

/** Long enough for a suspicion, for the others to share it, and for the decision; shorter than a grant. */
export const TERMINATION_MS = 12_000

/** `by` tries while `absent` are cut off; those that remain replace the owner, and the new user is in. */
export function replaceOwner(cluster: Cluster, absent: number[], by: number, user: string): Holder {
  cluster.isolate(...absent)
  cluster.try(by, user)
  cluster.run(TERMINATION_MS)
  return holder(cluster, by, user)
}

/**
 * `by` waits for the token, hears nothing from the owner, and the `agreeing` hear nothing either: if they are
 * a majority, `by` seals. Their logs must be equal, because a participant that is behind would catch up
 * first.
 */
export function suspectOwner(cluster: Cluster, by: number, agreeing: readonly number[]): void {
  const owner = ownerAt(cluster, by)
  const betweenVoters = (a: number, b: number) => a !== owner && b !== owner
  cluster.fire(by, 'suspect')
  cluster.deliver(sent => sent.message.body.type === 'pre-vote' && betweenVoters(sent.from, sent.to))
  for (const voter of agreeing) if (cluster.hasTimer(voter, 'suspect')) cluster.fire(voter, 'suspect')
  cluster.deliver(sent => sent.message.body.type === 'pre-vote-reply' && sent.to === by)
  const isMajority = 2 * (agreeing.length + 1) > cluster.participants
  if (isSealed(cluster, by) !== isMajority) throw new Error(`${agreeing} and ${by} do not agree`)
}

/**
 * The same by hand, while no time passes for anybody else: `by` and the `agreeing` replace the owner among
 * themselves. What they send to the others stays in flight.
 */
export function replaceOwnerByHand(cluster: Cluster, by: number, agreeing: number[], user: string): void {
  cluster.try(by, user)
  suspectOwner(cluster, by, agreeing)
  cluster.deliver(among(by, ...agreeing))
}

/** One communication step: everything in flight arrives, but nothing that it causes. Returns what arrived. */
export function deliverStep(cluster: Cluster): Sent[] {
  const inFlight = cluster.take(() => true)
  for (const sent of inFlight) cluster.hand(sent)
  return inFlight
}
