/** Matchers that select messages in flight, on any table. */
import type { Sent } from './table.ts'

interface Addressed {
  readonly from: number
  readonly to: number
}

export const to =
  (...participants: number[]) =>
  (sent: Addressed): boolean =>
    participants.includes(sent.to)

export const from =
  (...participants: number[]) =>
  (sent: Addressed): boolean =>
    participants.includes(sent.from)

/** Messages from the one participant to the other. */
export const along = (sender: number, receiver: number) => all(from(sender), to(receiver))

/** Messages that travel only among these participants. */
export const among = (...participants: number[]) => all(from(...participants), to(...participants))

export const all =
  <Any>(...matchers: ((sent: Any) => boolean)[]) =>
  (sent: Any): boolean =>
    matchers.every(matcher => matcher(sent))

export const not =
  <Any>(matcher: (sent: Any) => boolean) =>
  (sent: Any): boolean =>
    !matcher(sent)

interface Typed {
  readonly type: string
}

/** How many messages of each type. */
export function countByType(sent: readonly Sent<Typed>[]): { [type: string]: number } {
  const counts: { [type: string]: number } = {}
  for (const { message } of sent) counts[message.body.type] = (counts[message.body.type] ?? 0) + 1
  return counts
}

/** Matchers that know the types of one protocol's messages, so that a slip of the pen does not compile. */
export function matchersOf<Message extends Typed>() {
  const isOfType = <Type extends Message['type']>(body: Message, type: Type) => body.type === type
  return {
    ofType:
      (...types: Message['type'][]) =>
      (sent: Sent<Message>): boolean =>
        types.includes(sent.message.body.type),
    /** The bodies of the messages of one type. */
    bodies: <Type extends Message['type']>(sent: readonly Sent<Message>[], type: Type) =>
      sent.flatMap(({ message: { body } }) =>
        isOfType(body, type) ? [body as Extract<Message, { type: Type }>] : [],
      ),
  }
}
