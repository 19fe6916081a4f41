/** Matchers that select messages in flight by who sends them and who gets them, in any cluster. */
export interface Addressed {
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

export const all =
  <Sent>(...matchers: ((sent: Sent) => boolean)[]) =>
  (sent: Sent): boolean =>
    matchers.every(matcher => matcher(sent))
