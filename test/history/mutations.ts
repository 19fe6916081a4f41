/**
 * Ways to break a valid history. Each says which property must notice; others may notice too, since much of
 * what is wrong is wrong in several ways. A mutation that finds nothing to break in a history returns `null`.
 */
import type { History } from '../../shared/history/events.ts'
import type { Mutation } from './mutation-tools.ts'
import { livenessMutations } from './mutations-liveness.ts'
import { orderMutations } from './mutations-order.ts'
import { replicaMutations } from './mutations-replicas.ts'
import { userMutations } from './mutations-users.ts'
import type { Random } from './random.ts'

export const MUTATIONS: readonly Mutation[] = [
  ...replicaMutations,
  ...userMutations,
  ...orderMutations,
  ...livenessMutations,
]

export function mutated(history: History, mutation: Mutation, random: Random): History | null {
  const events = mutation.mutate(history.events, random)
  return events === null ? null : { header: history.header, events }
}
