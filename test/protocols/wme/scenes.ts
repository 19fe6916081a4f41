/** Scenes that many tests begin with, and what they look at afterwards. */
import type { Protocol } from '../../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import type { Entry, WmeState } from '../../../shared/protocols/wme/state.ts'
import { wme1, wme2 } from '../../../shared/protocols/wme/wme.ts'
import { among } from '../matchers.ts'
import { type Holder, holder } from '../scenes.ts'
import type { Cluster } from './cluster.ts'

export {
  appliedAt,
  ejectHolder,
  enter,
  eventsOf,
  exit,
  type Holder,
  holder,
  INCREMENT,
  issue,
  keepAlive,
  valueAt,
  withdraw,
} from '../scenes.ts'

/** For `describe.each`: what holds for one protocol holds for the other. */
export const protocols: [string, Protocol<WmeState, WmeMessage>][] = [
  ['wme-1', wme1],
  ['wme-2', wme2],
]

// ---------------------------------------------------------------- what happened

export const isIn = (cluster: Cluster, participant: number, user: string): boolean => {
  const { grant, phase } = cluster.state(participant).durable.stub
  return grant?.user === user && (phase === 'cs-idle' || phase === 'cs-issuing')
}

/** The types of what this participant emitted, in order, except the notes that a grant is committed. */
export const eventTypes = (cluster: Cluster, participant: number): string[] =>
  cluster.emitted
    .filter(({ participant: by, event }) => by === participant && event.type !== 'granted')
    .map(({ event }) => event.type)

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
