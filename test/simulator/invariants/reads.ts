/**
 * Linearizable reads: when a replica may be read, it has applied every operation whose outcome some user had
 * been told before the read was asked for.
 */
import type { ParticipantId, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import { violate } from '../violation.ts'
import type { SerialCopy } from './serial-copy.ts'

export class Reads {
  readonly #serial: SerialCopy
  /** By request: what the read must see. */
  readonly #floors = new Map<string, number>()
  /** The last operation whose outcome was told to anybody. */
  #told = 0

  constructor(serial: SerialCopy) {
    this.#serial = serial
  }

  said(event: UserInput): void {
    if (event.type === 'read' && !this.#floors.has(event.request)) this.#floors.set(event.request, this.#told)
  }

  told({ id }: { readonly id: ParticipantId }, event: UserOutput, isLost: boolean): void {
    if (event.type === 'outcome' && !isLost) this.#told = Math.max(this.#told, event.sequence)
    if (event.type !== 'readable') return
    const floor = this.#floors.get(event.request) ?? 0
    if (event.sequence >= floor && this.#serial.hasAllBelow(id, floor + 1)) return
    violate('read', `p${id} may be read at ${event.sequence}, but a user was told ${floor} before`)
  }
}
