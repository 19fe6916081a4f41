/** What many tests say and look at. */
import type { Json } from '../../../shared/json.ts'
import type { Emitted, UserOutput } from '../../../shared/protocols/protocol.ts'
import { readKey } from '../../../shared/resource/key-value.ts'
import type { Sent, Table } from './table.ts'

export const FORMS = ['latency-optimal', 'message-optimal'] as const

/** A user in its critical section. */
export interface Holder {
  readonly participant: number
  readonly user: string
  readonly fence: number
}

export const INCREMENT: Json = [{ increment: 'n' }]

export const wish = (table: Table, participant: number, user: string, options = {}): Emitted[] =>
  table.user(participant, { type: 'try', user, ttlMs: 30_000, ...options })

/** The user tries, everything is delivered, and it must be in. */
export function enter(table: Table, participant: number, user: string, options = {}): Holder {
  wish(table, participant, user, options)
  table.deliver()
  return holder(table, participant, user)
}

export function holder(table: Table, participant: number, user: string): Holder {
  const crit = eventsOf(table, participant, 'crit').findLast(event => event.user === user)
  if (crit === undefined) throw new Error(`${user} was not let in at participant ${participant}`)
  return { participant, user, fence: crit.fence }
}

export const issue = (table: Table, by: Holder, opId: string, operation: Json = INCREMENT): Emitted[] =>
  table.user(by.participant, { type: 'issue', user: by.user, fence: by.fence, opId, operation })

export const exit = (table: Table, by: Holder): Emitted[] =>
  table.user(by.participant, { type: 'exit', user: by.user, fence: by.fence })

export function eventsOf<Type extends Emitted['type']>(
  table: Table,
  participant: number,
  type: Type,
): Extract<Emitted, { type: Type }>[] {
  const found: Extract<Emitted, { type: Type }>[] = []
  for (const { participant: at, event } of table.emitted) {
    if (at === participant && event.type === type) found.push(event as Extract<Emitted, { type: Type }>)
  }
  return found
}

/** What a user was told, in order. */
export const toldTo = (table: Table, user: string): UserOutput['type'][] =>
  table.emitted.flatMap(({ event }) => ('user' in event && event.user === user ? [event.type] : []))

export const appliedAt = (table: Table, participant: number): string[] =>
  eventsOf(table, participant, 'applied').map(event => event.opId)

export const valueAt = (table: Table, participant: number, key = 'n'): Json =>
  readKey(table.state(participant).durable.replica.cells, key).value

export const ofType =
  (...types: Sent['message']['body']['type'][]) =>
  (sent: Sent): boolean =>
    types.includes(sent.message.body.type)

/** How many messages of each type. */
export function countByType(sent: readonly Sent[]): { [type: string]: number } {
  const counts: { [type: string]: number } = {}
  for (const { message } of sent) counts[message.body.type] = (counts[message.body.type] ?? 0) + 1
  return counts
}

/**
 * Long enough for a suspicion, for the others to share it, and for a new coordinator; shorter than a grant.
 */
export const REPLACEMENT_MS = 12_000
