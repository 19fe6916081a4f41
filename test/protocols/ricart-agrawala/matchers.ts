/** Matchers that select messages in flight. */
import type { RicartAgrawalaMessage } from '../../../shared/protocols/ricart-agrawala/messages.ts'
import { all, from, to } from '../addressed.ts'
import type { Sent } from './cluster.ts'

export { all, from, to }

export type Matcher = (sent: Sent) => boolean

export const ofType =
  (...types: RicartAgrawalaMessage['type'][]): Matcher =>
  sent =>
    types.includes(sent.message.body.type)

/** Messages from the one node to the other. */
export const along = (sender: number, receiver: number): Matcher => all(from(sender), to(receiver))

/** How many messages of each type. */
export function countByType(sent: readonly Sent[]): { [type: string]: number } {
  const counts: { [type: string]: number } = {}
  for (const { message } of sent) counts[message.body.type] = (counts[message.body.type] ?? 0) + 1
  return counts
}
