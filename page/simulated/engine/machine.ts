/** One simulated participant: its storage outlives a crash, everything else does not. */
import type { Json } from '../../../shared/json.ts'
import type { AnyProtocol, OpaqueState } from '../../../shared/protocols/all.ts'
import type { Context, DurableRecord, View } from '../../../shared/protocols/protocol.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import type { Cells } from '../../../shared/resource/resource.ts'
import type { Happening } from './happening.ts'
import { seatOf } from './seat.ts'
import { LIMITS, type Setup, TIMING } from './setup.ts'
import type { Seat } from './tape.ts'

/** A timer that is set again is another timer: the old one finds that it is not in the list any more. */
export interface Timer {
  readonly name: string
}

export class Machine {
  readonly id: number
  readonly context: Context
  readonly storage = new Map<string, Json>()
  readonly timers = new Map<string, Timer>()
  /** What came while it stood still. */
  readonly inbox: Happening[] = []
  condition: Seat['condition'] = 'off'
  /** How often it has begun. */
  lives = 0
  state: OpaqueState
  readonly #protocol: AnyProtocol

  constructor(id: number, setup: Setup, protocol: AnyProtocol) {
    const { participants } = setup
    const config = { self: id, participants, configuration: 1, localHandoffs: 1 }
    this.id = id
    this.#protocol = protocol
    this.context = { config: { ...config, timing: TIMING, limits: LIMITS }, resource: keyValue }
    this.state = protocol.recover(this.context, [])
  }

  get isUp(): boolean {
    return this.condition === 'up' || this.condition === 'paused'
  }

  get seat(): Seat {
    return seatOf(this.id, this.condition, this.#view)
  }

  /** The number of the set of members that it knows. */
  get configuration(): number {
    return this.#view.members?.configuration ?? 0
  }

  /** What its replica holds. */
  get cells(): Readonly<Cells> {
    return this.#view.cells ?? {}
  }

  get #view(): View {
    return this.#protocol.view(this.context, this.state)
  }

  save(records: readonly DurableRecord[]): void {
    for (const { key, value } of records) {
      if (value === null) this.storage.delete(key)
      else this.storage.set(key, value)
    }
  }

  recover(): void {
    this.state = this.#protocol.recover(this.context, this.storage)
    this.condition = 'up'
    this.lives++
  }

  crash(): void {
    this.condition = 'down'
    this.timers.clear()
    this.inbox.length = 0
  }
}
