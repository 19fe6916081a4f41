/**
 * What will happen, by virtual time; of two events at the same time, the one scheduled first happens first. A
 * binary heap.
 */

/** All events have the same fields, so that the queue and its users see one shape of object. */
export interface Scheduled<Kind extends string, Payload> {
  readonly at: number
  readonly order: number
  readonly kind: Kind
  readonly target: number
  readonly source: number
  readonly payload: Payload
}

export class EventQueue<Event extends Scheduled<string, unknown>> {
  readonly #heap: Event[] = []

  get length(): number {
    return this.#heap.length
  }

  /** The events in no particular order, for whoever wants to count them. */
  get pending(): readonly Event[] {
    return this.#heap
  }

  push(event: Event): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const parent = (at - 1) >>> 1
      const above = heap[parent]!
      if (!isBefore(event, above)) break
      heap[at] = above
      at = parent
    }
    heap[at] = event
  }

  peek(): Event | undefined {
    return this.#heap[0]
  }

  pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    const { length } = heap
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= length) break
      if (child + 1 < length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}

function isBefore(one: Scheduled<string, unknown>, other: Scheduled<string, unknown>): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
