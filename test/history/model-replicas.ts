/**
 * The replicated half of the model that generates histories: one log, and for each participant a replica that
 * has applied a part of it. The replicas are the real ones, so a generated history also compares them with
 * the judge's replay.
 */
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import {
  emptyReplica,
  invoke,
  type Replica,
  restoreReplica,
  resultOf,
  type StoredResult,
  snapshotReplica,
} from '../../shared/resource/replica.ts'
import type { Random } from './random.ts'
import { tally } from './tally.ts'

export interface LogEntry {
  readonly sequence: number
  readonly fence: number
  readonly opId: string
  readonly operation: Json
}

type WithoutTime<Event> = Event extends HistoryEvent ? Omit<Event, 'at'> : never
export type Record = (event: WithoutTime<HistoryEvent>) => void

export class ModelReplicas {
  readonly log: LogEntry[] = []
  /** The last place of the log that is taken. Grants take places too. */
  sequence = 0
  readonly #replicas: { replica: Replica; applied: number }[]
  readonly #random: Random
  readonly #record: Record
  readonly #resultsKept: number
  readonly #hashProbability: number
  readonly #replicaFaults: number

  constructor(
    random: Random,
    record: Record,
    options: { participants: number; resultsKept: number; hashProbability: number; replicaFaults: number },
  ) {
    this.#random = random
    this.#record = record
    this.#resultsKept = options.resultsKept
    this.#hashProbability = options.hashProbability
    this.#replicaFaults = options.replicaFaults
    this.#replicas = Array.from({ length: options.participants }, () => ({
      replica: emptyReplica(tally),
      applied: 0,
    }))
  }

  append(fence: number, opId: string, operation: Json): LogEntry {
    this.sequence++
    const entry = { sequence: this.sequence, fence, opId, operation }
    this.log.push(entry)
    return entry
  }

  /** What the participant's replica remembers of an operation. */
  remembered(participant: number, opId: string): StoredResult | undefined {
    return resultOf(this.#replicas[participant - 1]!.replica, opId)
  }

  /** Brings the replica to the end of the log. Returns what it answered last. */
  catchUp(participant: number): { sequence: number; result: Json } | null {
    const own = this.#replicas[participant - 1]!
    const farBehind = this.log.length - own.applied > 20
    if (farBehind || this.#random.chance(0.05 * this.#replicaFaults)) this.restore(participant)
    let answer: { sequence: number; result: Json } | null = null
    while (own.applied < this.log.length) answer = this.applyNext(participant)
    return answer
  }

  /** The replica applies the next entry, if there is one. */
  applyNext(participant: number): { sequence: number; result: Json } | null {
    const own = this.#replicas[participant - 1]!
    const entry = this.log[own.applied]
    if (entry === undefined) return null
    const { sequence, fence, opId, operation } = entry
    this.#record({ type: 'invoke', participant, sequence, fence, opId, operation })
    const answer = invoke(tally, own.replica, this.#resultsKept, entry)
    own.applied++
    const hashed = this.#random.chance(this.#hashProbability) ? { hash: tally.hash(own.replica.cells) } : {}
    this.#record({ type: 'response', participant, sequence, opId, result: answer.result, ...hashed })
    return { sequence: answer.sequence, result: answer.result }
  }

  /** The replica gets a snapshot of the replica that has come furthest. */
  restore(participant: number): void {
    const own = this.#replicas[participant - 1]!
    const furthest = this.#replicas.reduce((best, other) => (other.applied > best.applied ? other : best))
    if (furthest.applied <= own.applied) return
    own.replica = restoreReplica(tally, snapshotReplica(tally, furthest.replica))
    own.applied = furthest.applied
    // A snapshot may be reported with the place of a grant that follows the last operation.
    const last = this.log[own.applied - 1]!.sequence
    const next = this.log[own.applied]?.sequence ?? this.sequence + 1
    const sequence = last + this.#random.below(next - last)
    this.#record({ type: 'restore', participant, sequence, hash: tally.hash(own.replica.cells) })
  }

  wipe(participant: number): void {
    const own = this.#replicas[participant - 1]!
    own.replica = emptyReplica(tally)
    own.applied = 0
    this.#record({ type: 'wipe', participant })
  }
}
