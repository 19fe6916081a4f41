/** Messages as lines, and the ones that a test picks out or makes up. */
import type { Section4Message } from '../../../shared/protocols/maekawa/messages.ts'
import { MESSAGE_FORMAT } from '../../../shared/protocols/protocol.ts'
import type { Sent, Table } from './table.ts'

export const line = ({ from, to, message }: Sent): string => `${from} → ${to} ${message.body.type}`

/** What is in flight, in the order in which it was sent. */
export const inFlight = (table: Table): string[] => table.network.map(line)

/** What was sent since the last call, delivered or not. */
export function follow(table: Table): () => string[] {
  let seen = table.sent.length
  return () => {
    const lines = table.sent.slice(seen).map(line)
    seen = table.sent.length
    return lines
  }
}

/** Delivers exactly these messages, in this order; each must be in flight. */
export function deliver(table: Table, ...lines: string[]): void {
  for (const wanted of lines) {
    const index = table.network.findIndex(sent => line(sent) === wanted)
    if (index === -1) throw new Error(`${wanted} is not in flight, but ${inFlight(table).join(', ')}`)
    table.hand(table.network.splice(index, 1)[0]!)
  }
}

/**
 * Hands a made-up message to a node, from a sender that knows of no higher number unless the test says so.
 */
export function say(
  table: Table,
  from: number,
  to: number,
  message: Section4Message,
  highest = message.sequence,
): void {
  const body = { ...message, highest }
  table.hand({ from, to, message: { format: MESSAGE_FORMAT, configuration: 1, body } })
}

/** The nodes that have a user inside; the tests that ask have one user at each node. */
export const insideAt = (table: Table): number[] =>
  [...table.inside.keys()].map(name => Number.parseInt(name, 10))
