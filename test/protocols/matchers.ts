/** Matchers that select messages in flight. */
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import { all, from, to } from './addressed.ts'
import type { Sent } from './cluster.ts'

export { all, from, to }

export type Matcher = (sent: Sent) => boolean

export const ofType =
  (...types: WmeMessage['type'][]): Matcher =>
  sent =>
    types.includes(sent.message.body.type)

export const not =
  (matcher: Matcher): Matcher =>
  sent =>
    !matcher(sent)

/** Messages that travel only among these participants. */
export const among = (...participants: number[]): Matcher => all(from(...participants), to(...participants))

/** The bodies of the messages of one type, typed. */
export function bodies<Type extends WmeMessage['type']>(
  sent: readonly Sent[],
  type: Type,
): Extract<WmeMessage, { type: Type }>[] {
  const found: Extract<WmeMessage, { type: Type }>[] = []
  for (const { message } of sent) {
    if (message.body.type === type) found.push(message.body as Extract<WmeMessage, { type: Type }>)
  }
  return found
}

/** How many messages of each type. */
export function countByType(sent: readonly Sent[]): { [type: string]: number } {
  const counts: { [type: string]: number } = {}
  for (const { message } of sent) counts[message.body.type] = (counts[message.body.type] ?? 0) + 1
  return counts
}
