/**
 * Whether what clients were told is true, lock by lock: by the participants' histories, which the checker
 * judges first, and by what the lock's state held in the end, which nobody but a client has read.
 */

import type { History } from '../../../shared/history/events.ts'
import { judge } from '../../../shared/history/judge.ts'
import { replay } from '../../../shared/history/replay.ts'
import { serialOrder } from '../../../shared/history/serial-order.ts'
import type { ProtocolName } from '../../../shared/protocols/protocol.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import { Violation } from '../violation.ts'
import type { OperationCall } from './journal.ts'
import { judgeAnswers } from './judge-answers.ts'
import { judgeConfigurations } from './judge-configurations.ts'
import { type Attribution, judgeDeletes, latestAt } from './judge-deletes.ts'
import { judgeEjections } from './judge-ejections.ts'
import { judgeExistence, judgeUnused } from './judge-existence.ts'
import { judgeExports } from './judge-exports.ts'
import { judgeFences } from './judge-fences.ts'
import { judgeGhosts } from './judge-ghosts.ts'
import { judgeHolders } from './judge-holders.ts'
import { judgeMachines } from './judge-machines.ts'
import { judgeOperations } from './judge-operations.ts'
import { judgeOutcomes } from './judge-outcomes.ts'
import { judgeReads } from './judge-reads.ts'
import { judgeWaiters } from './judge-waiters.ts'
import { judgeWatches } from './judge-watches.ts'
import { Truth } from './truth.ts'
import type { World } from './world.ts'

const LOCK_ONLY: ReadonlySet<ProtocolName> = new Set(['ricart-agrawala', 'maekawa'])

export function judgeRun(world: World): void {
  judgeUnused(world)
  for (const { name } of world.plan.locks) {
    if (world.losses.owed(name) !== 'nothing') judgeLock(world, name)
  }
}

function judgeLock(world: World, lock: string): void {
  judgeConfigurations(world, lock)
  judgeFences(world, lock)
  judgeGhosts(world, lock)
  judgeExistence(world, lock)
  judgeHolders(world, lock)
  judgeEjections(world, lock)
  judgeOutcomes(world, lock)
  judgeAnswers(world, lock)
  judgeMachines(world, lock)
  judgeWaiters(world, lock)
  const latest = world.latestGeneration(lock)
  const truths: (Truth | null)[] = []
  for (let generation = 1; generation <= latest; generation++)
    truths.push(judgeGeneration(world, lock, generation, latest))
  const attribute: Attribution = ({ opId, sequence, endedAt }) => {
    const isThere = (truth: Truth | null) => truth?.entriesOf(opId).some(entry => entry.sequence === sequence)
    const possible = truths.slice(0, latestAt(world.journal.deletes, lock, endedAt!))
    // Its client may have asked again, in a later lock, where it may even stand at the same place.
    const wasIssued = (truth: Truth | null) => isThere(truth) && truth!.issuedAt(opId) <= endedAt!
    const wasNeverIssued = (truth: Truth | null) => isThere(truth) && truth!.issuedAt(opId) === Infinity
    const issued = possible.findLastIndex(wasIssued)
    const index = issued === -1 ? possible.findIndex(wasNeverIssued) : issued
    return index === -1 ? null : index + 1
  }
  judgeDeletes(world, lock, latest, attribute)
  for (const [index, truth] of truths.entries()) {
    if (truth === null) continue
    const generation = index + 1
    judgeOperations(world, lock, truth, call => {
      const applied = call.word === 'applied' ? attribute(call) : null
      if (applied !== null) return applied === generation
      if (call.word === 'applied' && isTakenAlong(world, call)) return false
      return generation === latest || call.word !== 'applied'
    })
    // Neither a read nor an event says which generation it is of.
    if (latest > 1) continue
    judgeReads(world, lock, truth)
    judgeExports(world, lock, truth)
    judgeWatches(world, lock, truth)
  }
}

/**
 * What a participant had in memory only, because a majority had it, goes with the lock that is deleted; and
 * so does the record that it was applied. The answer to its client may come later.
 */
function isTakenAlong({ journal }: World, { lock, begunAt }: OperationCall): boolean {
  return journal.deletes.some(seen => seen.lock === lock && seen.endedAt >= begunAt)
}

/** `null` for a lock that guards no state. */
function judgeGeneration(world: World, lock: string, generation: number, latest: number): Truth | null {
  const isLatest = generation === latest
  const known = world.generations.configurationOf(lock, generation)
  const configuration = known ?? (isLatest ? world.losses.configurationOf(lock) : null)
  const events = world.histories.eventsOf(lock, generation)
  if (configuration !== null) {
    const { protocol, participants } = configuration
    const { resultsKept } = world.plan.limits
    const resource = keyValue.name
    const header = { format: 1, protocol, participants: participants.length, resource, resultsKept } as const
    judgeHistory({ header, events }, lock)
  }
  if (configuration !== null && LOCK_ONLY.has(configuration.protocol)) return null
  const order = serialOrder(events)
  const { results } = replay(order, keyValue, world.plan.limits.resultsKept, new Set())
  return new Truth(events, order, results, (isLatest && world.journal.final.get(lock)) || null)
}

function judgeHistory(history: History, lock: string): void {
  const { properties } = judge(history, keyValue)
  for (const { name, kind, verdict, evidence } of properties) {
    if (verdict !== 'invalid') continue
    const [first] = evidence
    const events = (first?.events ?? []).map(({ event }) => JSON.stringify(event)).join(' ')
    throw new Violation(kind, name, `${lock}: ${first?.message ?? verdict}: ${events}`)
  }
}
