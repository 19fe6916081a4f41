/** What the tests of changing members have in common: machines to add, and what one looks at. */
import type { Emitted } from '../../../shared/protocols/protocol.ts'
import { eventsOf } from '../scenes.ts'
import { Cluster } from './cluster.ts'

export const CHANGE_MS = 20_000
/** Longer than a newcomer is called in vain. */
export const PATIENCE_MS = 600_000

export function create(participants = 3, machines = 1): Cluster {
  const cluster = new Cluster({ participants, localHandoffs: 0 })
  for (let added = 0; added < machines; added++) cluster.add()
  cluster.run(1_000)
  return cluster
}

export const groupOf = (cluster: Cluster, node: number): number[] =>
  Object.keys(cluster.state(node).durable.group.members).map(Number)

export const setOf = (cluster: Cluster, node: number): number[] =>
  Object.keys(cluster.view(node).members!.members).map(Number)

export const statusOf = (cluster: Cluster, node: number): string =>
  cluster.state(node).durable.membership.status

export const doneAt = (cluster: Cluster, node: number): string[] =>
  eventsOf(cluster, node, 'members-changed').map(({ request }) => request)

export const refusals = (events: readonly Emitted[]) =>
  events.flatMap(event => (event.type === 'refused' ? [event.refusal] : []))

export const refusalsAt = (cluster: Cluster, node: number) => refusals(eventsOf(cluster, node, 'refused'))

export const configOf = (cluster: Cluster, node: number): number => cluster.view(node).members!.configuration
