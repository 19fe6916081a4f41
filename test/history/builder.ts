/** Writes small histories by hand. Time goes on by one with each event, unless `at` is called. */
import type { EjectionReason, History, HistoryEvent, HistoryHeader } from '../../shared/history/events.ts'
import { judge } from '../../shared/history/judge.ts'
import type { Judgement, PropertyName } from '../../shared/history/verdict.ts'
import type { Json } from '../../shared/json.ts'
import type { Mode } from '../../shared/protocols/protocol.ts'
import { tally } from './tally.ts'

export const HEADER: HistoryHeader = {
  format: 1,
  protocol: 'wme-1',
  participants: 3,
  resource: 'tally',
  resultsKept: 100,
}

export interface Operation {
  readonly sequence: number
  readonly fence: number
  readonly opId: string
  readonly add: number
}

type Pending = { readonly opId: string; readonly outcome: 'not-applied' | 'unknown' }
type WithoutTime<Event> = Event extends HistoryEvent ? Omit<Event, 'at'> : never

export class HistoryBuilder {
  readonly events: HistoryEvent[] = []
  readonly header: HistoryHeader
  #now = 0
  /** The right results, in the order in which the operations are first mentioned. */
  readonly #results = new Map<number, { total: number; count: number }>()
  #total = 0

  constructor(header: Partial<HistoryHeader> = {}) {
    this.header = { ...HEADER, ...header }
  }

  get history(): History {
    return { header: this.header, events: this.events }
  }

  /** The next event happens at this time. */
  at(time: number): this {
    this.#now = time - 1
    return this
  }

  push(event: WithoutTime<HistoryEvent>): this {
    this.#now++
    this.events.push({ at: this.#now, ...event } as HistoryEvent)
    return this
  }

  try(user: string, participant = 1, mode?: Mode): this {
    return this.push({ type: 'try', user, participant, ...(mode && { mode }) })
  }

  crit(user: string, fence: number, participant = 1): this {
    return this.push({ type: 'crit', user, participant, fence, epoch: 0 })
  }

  /** `try` and `crit`. */
  enter(user: string, fence: number, participant = 1): this {
    return this.try(user, participant).crit(user, fence, participant)
  }

  issue(user: string, { fence, opId, add }: Operation, participant = 1): this {
    return this.push({ type: 'issue', user, participant, fence, opId, operation: { add } })
  }

  outcome(user: string, { fence, opId, sequence }: Operation, participant = 1, result?: Json): this {
    const told = result ?? this.resultAt(sequence)
    return this.push({ type: 'outcome', user, participant, fence, opId, sequence, result: told })
  }

  exit(user: string, fence: number, participant = 1): this {
    return this.push({ type: 'exit', user, participant, fence })
  }

  rem(user: string, fence: number, participant = 1): this {
    return this.push({ type: 'rem', user, participant, fence })
  }

  /** `exit` and `rem`. */
  leave(user: string, fence: number, participant = 1): this {
    return this.exit(user, fence, participant).rem(user, fence, participant)
  }

  ejected(
    user: string,
    fence: number,
    { participant = 1, reason = 'suspected', pending }: Partial<EjectedOptions> = {},
  ): this {
    const event = { type: 'ejected', user, participant, fence, reason } as const
    return this.push(pending === undefined ? event : { ...event, pending })
  }

  withdrawn(user: string, participant = 1): this {
    return this.push({ type: 'withdrawn', user, participant })
  }

  crash(user: string, participant = 1): this {
    return this.push({ type: 'crash', user, participant })
  }

  /** `invoke` and `response` on these replicas, one after the other. */
  apply(operation: Operation, ...participants: readonly number[]): this {
    for (const participant of participants)
      this.invoke(operation, participant).respond(operation, participant)
    return this
  }

  invoke({ sequence, fence, opId, add }: Operation, participant = 1): this {
    this.resultAt(sequence, add)
    return this.push({ type: 'invoke', participant, sequence, fence, opId, operation: { add } })
  }

  respond(
    { sequence, opId }: Operation,
    participant = 1,
    wrong: { result?: Json; hash?: string } = {},
  ): this {
    const result = wrong.result ?? this.resultAt(sequence)
    const hash = wrong.hash === undefined ? {} : { hash: wrong.hash }
    return this.push({ type: 'response', participant, sequence, opId, result, ...hash })
  }

  restore(sequence: number, hash: string, participant = 1): this {
    return this.push({ type: 'restore', participant, sequence, hash })
  }

  restart(sequence: number, participant = 1): this {
    return this.push({ type: 'restart', participant, sequence })
  }

  wipe(participant = 1): this {
    return this.push({ type: 'wipe', participant })
  }

  healed(...participants: readonly number[]): this {
    return this.push({ type: 'healed', participants })
  }

  settled(): this {
    return this.push({ type: 'settled' })
  }

  end(): this {
    return this.push({ type: 'end' })
  }

  /** A whole instance with one operation each, applied on all three replicas. */
  instance(user: string, fence: number, operations: readonly Operation[], participant = 1): this {
    this.enter(user, fence, participant)
    for (const operation of operations) {
      this.issue(user, operation, participant)
        .apply(operation, participant)
        .outcome(user, operation, participant)
    }
    this.leave(user, fence, participant)
    for (const operation of operations)
      this.apply(operation, ...[1, 2, 3].filter(other => other !== participant))
    return this
  }

  private resultAt(sequence: number, add = 0): { total: number; count: number } {
    const known = this.#results.get(sequence)
    if (known !== undefined) return known
    this.#total += add
    const result = { total: this.#total, count: this.#results.size + 1 }
    this.#results.set(sequence, result)
    return result
  }
}

interface EjectedOptions {
  readonly participant: number
  readonly reason: EjectionReason
  readonly pending: Pending
}

export const build = (header: Partial<HistoryHeader> = {}): HistoryBuilder => new HistoryBuilder(header)

export const operation = (sequence: number, fence: number, opId: string, add = 1): Operation => {
  return { sequence, fence, opId, add }
}

export function judged(builder: HistoryBuilder): Judgement {
  return judge(builder.history, tally)
}

export function violated(judgement: Judgement): PropertyName[] {
  return judgement.properties
    .filter(property => property.verdict === 'invalid')
    .map(property => property.name)
}

/** The properties that the history breaks. */
export function violations(builder: HistoryBuilder): PropertyName[] {
  return violated(judged(builder))
}

/** The messages of the evidence for one property. */
export function messages(judgement: Judgement, name: PropertyName): string[] {
  const property = judgement.properties.find(candidate => candidate.name === name)
  return property?.evidence.map(evidence => evidence.message) ?? []
}
