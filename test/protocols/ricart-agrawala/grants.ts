/**
 * The users that are inside according to storage, checked at every save: they exclude each other, and fences
 * grow.
 */
import type { Json } from '../../../shared/json.ts'
import type { Mode } from '../../../shared/protocols/protocol.ts'

export interface Grant {
  readonly participant: number
  readonly user: string
  readonly fence: number
  readonly mode: Mode
}

export class Grants {
  /** All grants ever, in the order in which they became durable. */
  readonly all: Grant[] = []
  private inside: Grant[] = []
  private readonly fences = new Set<number>()
  private largest = 0
  private largestOfWriters = 0

  saved(participant: number, storage: ReadonlyMap<string, Json>): void {
    const holders = [...storage].flatMap(([key, value]) =>
      key.startsWith('holder/') ? [{ participant, ...(value as unknown as Omit<Grant, 'participant'>) }] : [],
    )
    this.inside = this.inside.filter(
      grant => grant.participant !== participant || holders.some(({ fence }) => fence === grant.fence),
    )
    for (const holder of holders) if (!this.fences.has(holder.fence)) this.enter(holder)
    const writers = this.inside.filter(({ mode }) => mode === 'exclusive')
    if (writers.length > 0 && this.inside.length > 1)
      throw new Error(`inside together: ${JSON.stringify(this.inside)}`)
  }

  /** Readers between the same two writers have no order. */
  private enter(grant: Grant): void {
    const { fence, mode } = grant
    const bound = mode === 'exclusive' ? this.largest : this.largestOfWriters
    if (fence <= bound) throw new Error(`the fence ${fence} comes after ${bound}`)
    this.fences.add(fence)
    this.largest = Math.max(this.largest, fence)
    if (mode === 'exclusive') this.largestOfWriters = fence
    this.inside.push(grant)
    this.all.push(grant)
  }

  /** A user that was inside at a node whose storage is gone is inside no longer. */
  wiped(participant: number): void {
    this.inside = this.inside.filter(grant => grant.participant !== participant)
  }
}
