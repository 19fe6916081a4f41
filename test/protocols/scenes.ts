/** What users say on any table, and what they and their replicas hear. */
import type { Json } from '../../shared/json.ts'
import type { Emitted, Mode, UserOutput, View } from '../../shared/protocols/protocol.ts'
import { readKey } from '../../shared/resource/key-value.ts'
import type { Table } from './table.ts'

type Users = Pick<Table<{ durable: unknown }, never>, 'user' | 'isUp' | 'emitted'> & {
  deliver(): unknown
}

/** A user in its critical section. */
export interface Holder {
  readonly participant: number
  readonly user: string
  readonly fence: number
  readonly epoch: number
  readonly sequence: number
}

export type TryOptions = { ttlMs?: number; waitMs?: number; confirm?: boolean; mode?: Mode }

// ---------------------------------------------------------------- users

export const wish = (table: Users, participant: number, user: string, options: TryOptions = {}): Emitted[] =>
  table.user(participant, { type: 'try', user, ttlMs: 30_000, ...options })

/** The user tries, everything is delivered, and it must be in. */
export function enter(table: Users, participant: number, user: string, options: TryOptions = {}): Holder {
  wish(table, participant, user, options)
  if (table.isUp(participant)) table.deliver()
  return holder(table, participant, user)
}

/** The last `crit` of this user. */
export function holder(table: Users, participant: number, user: string): Holder {
  const crit = eventsOf(table, participant, 'crit').findLast(event => event.user === user)
  if (crit === undefined) throw new Error(`${user} was not let in at participant ${participant}`)
  const { fence, epoch, sequence } = crit
  return { participant, user, fence, epoch, sequence }
}

export const INCREMENT: Json = [{ increment: 'n' }]

export const issue = (table: Users, by: Holder, opId: string, operation: Json = INCREMENT): Emitted[] =>
  table.user(by.participant, { type: 'issue', user: by.user, fence: by.fence, opId, operation })

export const exit = (table: Users, by: Holder): Emitted[] =>
  table.user(by.participant, { type: 'exit', user: by.user, fence: by.fence })

export const keepAlive = (table: Users, by: Holder, ttlMs: number): Emitted[] =>
  table.user(by.participant, { type: 'keep-alive', user: by.user, fence: by.fence, ttlMs })

export const withdraw = (table: Users, participant: number, user: string): Emitted[] =>
  table.user(participant, { type: 'withdraw', user })

export const ejectHolder = (table: Users, participant: number, request: string): Emitted[] =>
  table.user(participant, { type: 'eject', request })

// ---------------------------------------------------------------- what happened

/** What this participant emitted of one type, in order. */
export function eventsOf<Type extends Emitted['type']>(
  table: Pick<Users, 'emitted'>,
  participant: number,
  type: Type,
): Extract<Emitted, { type: Type }>[] {
  const found: Extract<Emitted, { type: Type }>[] = []
  for (const { participant: by, event } of table.emitted) {
    if (by === participant && event.type === type) found.push(event as Extract<Emitted, { type: Type }>)
  }
  return found
}

/** What a user was told, in order. */
export const toldTo = (table: Pick<Users, 'emitted'>, user: string): UserOutput['type'][] =>
  table.emitted.flatMap(({ event }) => ('user' in event && event.user === user ? [event.type] : []))

export const appliedAt = (table: Pick<Users, 'emitted'>, participant: number): string[] =>
  eventsOf(table, participant, 'applied').map(event => event.opId)

export const valueAt = (table: { view(participant: number): View }, participant: number, key = 'n'): Json =>
  readKey(table.view(participant).cells!, key).value
