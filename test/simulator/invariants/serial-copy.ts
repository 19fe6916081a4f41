/**
 * C, the one sequence of which all replicas apply a prefix, and the single copy that a serial replay of it
 * gives.
 *   I6   each replica has applied a prefix of C, without repetition; a snapshot is a jump within C
 *   I7   equal state hash at equal position
 *   I8   every result is the one of the serial replay
 *   I9   what was reported as not applied is never in C
 *   I15  fences increase along C
 * The replica that applies an operation first extends C. The copy deliberately does not use the replicas' own
 * code: a mistake there would otherwise be repeated here.
 */

import type { Json } from '../../../shared/json.ts'
import type { ParticipantId, ReplicaOutput, UserOutput } from '../../../shared/protocols/protocol.ts'
import { OPERATION_CONFLICT, OPERATION_FAILED } from '../../../shared/resource/replica.ts'
import type { Cells, Resource } from '../../../shared/resource/resource.ts'
import { violate } from '../violation.ts'
import { isEqual } from './equal.ts'

export type AppliedOperation = Extract<ReplicaOutput, { readonly type: 'applied' }>

type CommittedGrant = Extract<ReplicaOutput, { readonly type: 'granted' }>

interface Remembered {
  readonly operation: Json
  readonly result: Json
}

export class SerialCopy {
  readonly entries: AppliedOperation[] = []
  readonly #resource: Resource
  readonly #resultsKept: number
  readonly #cells: Cells
  /** The cells after each number of entries. Their values are shared, so this takes little memory. */
  readonly #states: Cells[]
  /** Hashes of the states that were asked for. */
  readonly #hashes: string[] = []
  /** How many entries each replica has applied. */
  readonly #positions: number[]
  readonly #remembered = new Map<string, Remembered>()
  readonly #grants = new Map<number, { readonly fence: number; readonly to: ParticipantId }>()
  readonly #inC = new Set<string>()
  readonly #failed = new Set<string>()

  constructor(resource: Resource, participants: number, resultsKept: number) {
    this.#resource = resource
    this.#resultsKept = resultsKept
    this.#cells = { ...resource.initial() }
    this.#states = [{ ...this.#cells }]
    this.#positions = new Array(participants + 1).fill(0)
  }

  lengthOf(participant: ParticipantId): number {
    return this.#positions[participant]!
  }

  hashOf(participant: ParticipantId): string {
    const position = this.#positions[participant]!
    this.#hashes[position] ??= this.#resource.hash(this.#states[position]!)
    return this.#hashes[position]
  }

  applied(participant: ParticipantId, event: AppliedOperation): void {
    const position = this.#positions[participant]!
    if (position === this.entries.length) this.#append(participant, event)
    else compare(participant, event, this.entries[position]!)
    this.#positions[participant] = position + 1
  }

  #append(participant: ParticipantId, event: AppliedOperation): void {
    const last = this.entries.at(-1)
    const name = `${event.opId} (sequence ${event.sequence}, fence ${event.fence})`
    if (last !== undefined && event.sequence <= last.sequence) {
      violate('I6', `p${participant} applies ${name} after sequence ${last.sequence}`)
    }
    if (last !== undefined && event.fence < last.fence) {
      violate('I15', `p${participant} applies ${name} after an operation with fence ${last.fence}`)
    }
    const key = keyOf(event.fence, event.opId)
    if (this.#failed.has(key))
      violate('I9', `${name} was reported as not applied, and p${participant} applies it`)
    const expected = this.#replay(event)
    if (!isEqual(event.result, expected)) {
      violate('I8', `p${participant} answers ${name} with ${show(event.result)}, not ${show(expected)}`)
    }
    this.#inC.add(key)
    this.entries.push(event)
    this.#states.push({ ...this.#cells })
  }

  #replay({ opId, operation, sequence }: AppliedOperation): Json {
    const earlier = this.#remembered.get(opId)
    if (earlier !== undefined) {
      return isEqual(earlier.operation, operation) ? earlier.result : OPERATION_CONFLICT
    }
    let result: Json = OPERATION_FAILED
    try {
      const applied = this.#resource.apply(this.#cells, operation, sequence)
      for (const { cell, value } of applied.changes) {
        if (value === null) delete this.#cells[cell]
        else this.#cells[cell] = value
      }
      result = applied.result
    } catch {
      // An operation that throws changes nothing, and has the same result everywhere.
    }
    this.#remembered.set(opId, { operation, result })
    if (this.#remembered.size > this.#resultsKept)
      this.#remembered.delete(this.#remembered.keys().next().value!)
    return result
  }

  /** A grant is committed: all must say the same about its place, and no fence may be used twice. */
  granted(participant: ParticipantId, { sequence, fence, to }: CommittedGrant): void {
    const known = this.#grants.get(sequence)
    if (known === undefined) {
      this.#grants.set(sequence, { fence, to })
    } else if (known.fence !== fence || known.to !== to) {
      violate('I6', `p${participant} sees a grant to p${to} at ${sequence}, others one to p${known.to}`)
    }
  }

  /** The replica is what it was after all entries up to `sequence`. */
  restarted(participant: ParticipantId, sequence: number): void {
    this.#positions[participant] = this.#find(sequence + 1)
  }

  /** The replica jumped to the state after all entries up to `sequence`. */
  restored(participant: ParticipantId, sequence: number): void {
    const position = this.#find(sequence + 1)
    const before = this.#positions[participant]!
    if (position < before)
      violate('I6', `p${participant} jumps back from ${before} to ${position} operations`)
    this.#positions[participant] = position
  }

  compareHash(participant: ParticipantId, hash: string): void {
    if (hash === this.hashOf(participant)) return
    const position = this.#positions[participant]!
    violate('I7', `p${participant} has another state than the serial copy after ${position} operations`)
  }

  wiped(participant: ParticipantId): void {
    this.#positions[participant] = 0
  }

  /** A user was told this result by its own stub, which must have come that far itself. */
  outcome(participant: ParticipantId, opId: string, sequence: number, result: Json): void {
    const position = this.#find(sequence)
    const entry = this.entries[position]
    if (entry === undefined || entry.sequence !== sequence || entry.opId !== opId) {
      violate(
        'I8',
        `p${participant} tells the outcome of ${opId} at sequence ${sequence}, where it is not in C`,
      )
    }
    if (!isEqual(entry.result, result)) {
      violate(
        'I8',
        `p${participant} tells ${show(result)} as the outcome of ${opId}, which is ${show(entry.result)}`,
      )
    }
    if (position >= this.#positions[participant]!) {
      violate('I8', `p${participant} tells the outcome of ${opId} before it has applied it`)
    }
  }

  failed(participant: ParticipantId, fence: number, opId: string): void {
    const key = keyOf(fence, opId)
    if (this.#inC.has(key))
      violate('I9', `p${participant} reports ${opId} (fence ${fence}) as not applied, but it is`)
    this.#failed.add(key)
  }

  /**
   * An operation that was refused because its grant is over, and reported as not applied, never is applied.
   */
  refused(participant: ParticipantId, event: Extract<UserOutput, { type: 'refused' }>): void {
    const { refusal, opId } = event
    if (refusal.code !== 'grant-over' || refusal.outcome !== 'not-applied' || opId === undefined) return
    if (refusal.ending !== null) this.failed(participant, refusal.ending.fence, opId)
  }

  /** Whether this replica has applied every operation of C below `sequence`. */
  hasAllBelow(participant: ParticipantId, sequence: number): boolean {
    const next = this.entries[this.#positions[participant]!]
    return next === undefined || next.sequence >= sequence
  }

  /** Whether this replica has applied every operation of C that belongs to an earlier grant. */
  hasAllBeforeFence(participant: ParticipantId, fence: number): boolean {
    const next = this.entries[this.#positions[participant]!]
    return next === undefined || next.fence >= fence
  }

  #find(sequence: number): number {
    let low = 0
    let high = this.entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.entries[middle]!.sequence < sequence) low = middle + 1
      else high = middle
    }
    return low
  }
}

const keyOf = (fence: number, opId: string): string => `${fence} ${opId}`

function compare(participant: ParticipantId, event: AppliedOperation, expected: AppliedOperation): void {
  const isSame =
    event.sequence === expected.sequence &&
    event.fence === expected.fence &&
    event.opId === expected.opId &&
    isEqual(event.operation, expected.operation)
  if (!isSame) {
    const there = `${expected.opId} (sequence ${expected.sequence}, fence ${expected.fence})`
    const here = `${event.opId} (sequence ${event.sequence}, fence ${event.fence})`
    violate('I6', `p${participant} applies ${here} where C has ${there}`)
  }
  if (!isEqual(event.result, expected.result)) {
    violate(
      'I8',
      `p${participant} answers ${event.opId} with ${show(event.result)}, not ${show(expected.result)}`,
    )
  }
}

const show = (value: Json): string => JSON.stringify(value)
