/** Scenes of changing members, and everything of the other scenes that they need. */
import type { Emitted, Members, Protocol, Refusal } from '../../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import type { Membership, WmeState } from '../../../shared/protocols/wme/state.ts'
import { Cluster, type ClusterOptions } from '../wme/cluster.ts'
import { eventsOf } from '../wme/scenes.ts'

export { Cluster, type Sent } from '../wme/cluster.ts'
export { all, among, bodies, from, not, ofType, to } from '../wme/matchers.ts'
export {
  enter,
  epochOf,
  eventsOf,
  eventTypes,
  exit,
  holder,
  isIn,
  isSealed,
  issue,
  keepAlive,
  ownerAt,
  protocols,
  TERMINATION_MS,
  valueAt,
} from '../wme/scenes.ts'

/** Long enough for newcomers, a decision and the handover. */
export const CHANGE_MS = 3_000

export const createCluster = (
  protocol: Protocol<WmeState, WmeMessage>,
  participants = 3,
  options: Partial<ClusterOptions> = {},
): Cluster => new Cluster(protocol, { participants, checkRecovery: true, ...options })

/** Machines that are no members yet. They say so, and are told that they are none. */
export function addMachines(cluster: Cluster, count: number): void {
  for (let added = 0; added < count; added++) cluster.add()
  cluster.run(100)
}

export const setOf = (...numbers: number[]): Members =>
  Object.fromEntries(numbers.map(number => [number, '']))

/** An operator asks `at` for these members. The request has the name of the change. */
export function change(
  cluster: Cluster,
  at: number,
  id: string,
  members: Members,
  base = 0,
  request = id,
): Emitted[] {
  return cluster.user(at, { type: 'change-members', request, id, base, members })
}

/** The same, and it comes to its end. */
export function changeTo(cluster: Cluster, at: number, id: string, members: Members, base = 0): void {
  change(cluster, at, id, members, base)
  cluster.run(CHANGE_MS)
  if (!doneAt(cluster, at).includes(id)) throw new Error(`the members were not changed: ${id}`)
}

/** The requests that were answered with success at this participant. */
export const doneAt = (cluster: Cluster, participant: number): string[] =>
  eventsOf(cluster, participant, 'members-changed').map(({ request }) => request)

export const refusalsAt = (cluster: Cluster, participant: number): Refusal[] =>
  eventsOf(cluster, participant, 'refused').map(({ refusal }) => refusal)

export const membersAt = (cluster: Cluster, participant: number): number[] =>
  Object.keys(cluster.view(participant).members!.members).map(Number)

export const membershipOf = (cluster: Cluster, participant: number): Membership =>
  cluster.state(participant).durable.membership

export const statusOf = (cluster: Cluster, participant: number): string =>
  membershipOf(cluster, participant).status

/** What this participant has sent, by type, without repetition. */
export const saidBy = (cluster: Cluster, participant: number): string[] => [
  ...new Set(cluster.sent.filter(({ from }) => from === participant).map(({ message }) => message.body.type)),
]
