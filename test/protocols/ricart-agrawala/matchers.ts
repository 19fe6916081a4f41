/** Matchers that select messages in flight. */
import type { RicartAgrawalaMessage } from '../../../shared/protocols/ricart-agrawala/messages.ts'
import type { Sent } from './cluster.ts'

export type Matcher = (sent: Sent) => boolean

export const ofType =
  (...types: RicartAgrawalaMessage['type'][]): Matcher =>
  sent =>
    types.includes(sent.message.body.type)

export const to =
  (...participants: number[]): Matcher =>
  sent =>
    participants.includes(sent.to)

export const from =
  (...participants: number[]): Matcher =>
  sent =>
    participants.includes(sent.from)

export const all =
  (...matchers: Matcher[]): Matcher =>
  sent =>
    matchers.every(matcher => matcher(sent))

/** Messages from the one node to the other. */
export const along = (sender: number, receiver: number): Matcher => all(from(sender), to(receiver))

/** How many messages of each type. */
export function countByType(sent: readonly Sent[]): { [type: string]: number } {
  const counts: { [type: string]: number } = {}
  for (const { message } of sent) counts[message.body.type] = (counts[message.body.type] ?? 0) + 1
  return counts
}
