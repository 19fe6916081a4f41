/**
 * How much a participant's copy of the state weighs, kept up to date with what each operation changes. A
 * batch that would make it too heavy is refused here, before it is issued: once it is in the log every
 * participant must apply it.
 *
 * The limits are soft. The copy may be behind what others have issued, so what is on its way can exceed them.
 * An operation that makes the state lighter is always taken.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Json } from '../../../shared/json.ts'
import { type Invocation, invoke, type Replica, resultOf } from '../../../shared/resource/replica.ts'
import type { CellChange, Resource } from '../../../shared/resource/resource.ts'
import { weigh } from './weigh.ts'

/**
 * Closer than this to a limit, a batch is tried out before it is issued; further away that is not worth the
 * time.
 */
const HEADROOM = 1024 * 1024

/**
 * When the table of results is full, each result may weigh this much: as earlier ones are forgotten, the
 * table gets lighter.
 */
const FAIR_SHARE = Math.floor(API_LIMITS.resultsWeight / API_LIMITS.resultsKept)

export class ReplicaSize {
  private readonly resource: Resource
  private readonly replica: () => Replica
  private readonly cells = new Map<string, number>()
  /** Oldest first, like the table of results itself. */
  private readonly results = new Map<string, number>()
  private cellsWeight = 0
  private resultsWeight = 0

  constructor(resource: Resource, replica: () => Replica) {
    this.resource = resource
    this.replica = replica
    this.measureAll()
  }

  get weightOfResults(): number {
    return this.resultsWeight
  }

  get weight(): number {
    return this.cellsWeight
  }

  /** The copy was replaced as a whole. */
  measureAll(): void {
    this.cells.clear()
    this.results.clear()
    this.cellsWeight = 0
    this.resultsWeight = 0
    const { cells, order } = this.replica()
    for (const [cell, value] of Object.entries(cells)) this.change({ cell, value })
    for (const opId of order) this.remember(opId)
  }

  applied(opId: string, changes: readonly CellChange[]): void {
    for (const change of changes) this.change(change)
    this.remember(opId)
  }

  get isNearLimit(): boolean {
    return (
      this.cellsWeight > API_LIMITS.stateWeight - HEADROOM ||
      this.resultsWeight > API_LIMITS.resultsWeight - HEADROOM
    )
  }

  /**
   * Whether this operation, which nobody has issued yet, would take the state or the results over their
   * limits. `onTheWay` are operations before it that are not applied yet.
   */
  isTooMuch(invocation: Invocation, onTheWay: readonly Invocation[]): boolean {
    if (!this.isNearLimit) return false
    const ahead = new Ahead(this.resource, this.replica(), cell => this.cells.get(cell) ?? 0)
    for (const before of onTheWay) ahead.apply(before)
    const before = this.cellsWeight + ahead.growth
    const result = ahead.apply(invocation)
    const after = this.cellsWeight + ahead.growth
    const resultWeight = weigh(result)
    return (
      (after > before && after > API_LIMITS.stateWeight) ||
      (resultWeight > FAIR_SHARE && this.resultsWeight + resultWeight > API_LIMITS.resultsWeight)
    )
  }

  private change(change: CellChange): void {
    const heavy = weightOfCell(change)
    this.cellsWeight += heavy - (this.cells.get(change.cell) ?? 0)
    if (change.value === null) this.cells.delete(change.cell)
    else this.cells.set(change.cell, heavy)
  }

  private remember(opId: string): void {
    const stored = resultOf(this.replica(), opId)
    // An operation that was applied before is not remembered anew; one that many operations at once have
    // pushed out already is not remembered at all.
    if (stored === undefined || this.results.has(opId)) return
    const added = weigh(stored.result) + opId.length
    this.results.set(opId, added)
    this.resultsWeight += added
    for (const [oldest, gone] of this.results) {
      if (this.results.size <= this.replica().order.length) break
      this.results.delete(oldest)
      this.resultsWeight -= gone
    }
  }
}

/** What the state would be after operations that are not applied yet, on a copy. */
class Ahead {
  /** How much heavier the state would be. */
  growth = 0
  private readonly resource: Resource
  private readonly replica: Replica
  private readonly weightNow: (cell: string) => number
  private readonly weights = new Map<string, number>()

  constructor(resource: Resource, { cells, results }: Replica, weightNow: (cell: string) => number) {
    this.resource = resource
    this.replica = { cells: { ...cells }, results: { ...results }, order: [], droppedThrough: 0 }
    this.weightNow = weightNow
  }

  apply(invocation: Invocation): Json {
    const { result, changes } = invoke(this.resource, this.replica, Number.POSITIVE_INFINITY, invocation)
    for (const change of changes) {
      const heavy = weightOfCell(change)
      this.growth += heavy - (this.weights.get(change.cell) ?? this.weightNow(change.cell))
      this.weights.set(change.cell, heavy)
    }
    return result
  }
}

function weightOfCell({ cell, value }: CellChange): number {
  return value === null ? 0 : cell.length + weigh(value)
}
