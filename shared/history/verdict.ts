/** What the judge says: one verdict per property, with the events that prove it. */
import type { HistoryEvent } from './events.ts'

/** `unknown`: the history does not say enough to judge this property. */
export type Verdict = 'valid' | 'invalid' | 'unknown'

/**
 * `mutual exclusion` and `increasing fences` are for locks that guard no state, `agreed members` is for
 * histories in which the participants of the lock changed.
 */
export type SafetyProperty =
  | 'well-formedness'
  | '1CS'
  | 'WME1'
  | 'WME2'
  | 'WME3'
  | 'up-to-date'
  | 'mutual exclusion'
  | 'increasing fences'
  | 'agreed members'
export type LivenessProperty = 'CS-release progress' | 'operation progress' | 'starvation-freedom'
export type PropertyName = SafetyProperty | LivenessProperty

export interface EvidenceEvent {
  /** Place in `history.events`, from 0. In a file without blank lines the event is on line `index + 2`. */
  readonly index: number
  readonly event: HistoryEvent
}

export interface Evidence {
  readonly message: string
  /** The events that prove it, in the order of the history. */
  readonly events: readonly EvidenceEvent[]
}

export interface PropertyVerdict {
  readonly name: PropertyName
  readonly kind: 'safety' | 'liveness'
  readonly verdict: Verdict
  /** The number of violations; `evidence` holds the first of them. */
  readonly violations: number
  /** The first violations, or why the verdict is unknown. */
  readonly evidence: readonly Evidence[]
}

export interface HistoryCounts {
  readonly events: number
  readonly users: number
  readonly tries: number
  /** Critical section instances: `crit` events. */
  readonly grants: number
  /** The length of C, the serial order of all operations that any replica applied. */
  readonly operations: number
  /** Operations of C that the replay answered from its remembered results and did not apply again. */
  readonly repeated: number
  readonly outcomes: number
  readonly ejections: number
  readonly crashes: number
  readonly restores: number
  readonly wipes: number
  /** State hashes in the history, each compared with the replay. */
  readonly hashes: number
}

export interface Judgement {
  /** The worse of the two below: invalid before unknown before valid. */
  readonly verdict: Verdict
  readonly safety: Verdict
  readonly liveness: Verdict
  readonly properties: readonly PropertyVerdict[]
  readonly counts: HistoryCounts
}

/** More evidence proves nothing new, and a history may hold a million violations. */
export const EVIDENCE_KEPT = 10

/** Collects the violations of one property. A message is built only if it is kept. */
export class Findings {
  readonly #events: readonly HistoryEvent[]
  readonly #evidence: Evidence[] = []
  #violations = 0

  constructor(events: readonly HistoryEvent[]) {
    this.#events = events
  }

  violation(message: () => string, ...indices: readonly (number | null | undefined)[]): void {
    this.#violations++
    if (this.#evidence.length >= EVIDENCE_KEPT) return
    this.#evidence.push({ message: message(), events: this.#cite(indices) })
  }

  safety(name: SafetyProperty): PropertyVerdict {
    return this.#verdict(name, 'safety')
  }

  liveness(name: LivenessProperty): PropertyVerdict {
    return this.#verdict(name, 'liveness')
  }

  #verdict(name: PropertyName, kind: 'safety' | 'liveness'): PropertyVerdict {
    const verdict = this.#violations === 0 ? 'valid' : 'invalid'
    return { name, kind, verdict, violations: this.#violations, evidence: this.#evidence }
  }

  #cite(indices: readonly (number | null | undefined)[]): EvidenceEvent[] {
    const present = indices.filter(index => index !== null && index !== undefined)
    const inOrder = [...new Set(present)].sort((left, right) => left - right)
    return inOrder.map(index => ({ index, event: this.#events[index]! }))
  }
}

export function notJudged(
  name: PropertyName,
  kind: 'safety' | 'liveness',
  why: string,
  events: readonly EvidenceEvent[] = [],
): PropertyVerdict {
  return { name, kind, verdict: 'unknown', violations: 0, evidence: [{ message: why, events }] }
}

export function worst(verdicts: Iterable<Verdict>): Verdict {
  let worstSoFar: Verdict = 'valid'
  for (const verdict of verdicts) {
    if (verdict === 'invalid') return 'invalid'
    if (verdict === 'unknown') worstSoFar = 'unknown'
  }
  return worstSoFar
}
