/**
 * How often others may be let in between a `try` and its `crit` while nothing goes wrong.
 *
 * The paper's bound, for all protocols: N² grants. It has one user for each of N processes. Where a
 * participant has several users, each of them waits like a process of its own: N is then the largest number
 * of users that were active at once.
 *
 * The bound that follows from the order of requests is usually far lower. It is the product of three numbers,
 * plus what is on its way:
 *   - *turns*: users of one participant wait in a queue, and one turn of the participant lets in at least one
 *     of them. So a user needs as many turns as there are users at its participant, itself included.
 *   - *requests of each other participant that go first*, once the request of this turn has reached all:
 *       wme-1, wme-2       1: the owner of the token has the older requests before it in its queue, the newer
 *                          ones behind it;
 *       wme-consensus      1: requests are decided in one log, and granted in its order;
 *       ricart-agrawala    1: a node that has processed the request chooses higher numbers ("no other node
 *                          may enter its critical section twice"). Rings, moduli, increments and names (6.3,
 *                          6.4, 6.5, 7.1) change which numbers those are, not that they are higher;
 *       maekawa            2: each other node shares a member with the one that waits. It may hold that
 *                          member's lock already, or have chosen its number before it heard from that member
 *                          again; what the member says to it next carries the number of the one that waits,
 *                          and all later requests come after that.
 *   - *grants under one request*: 1, and `localHandoffs` more if other users wait at the same participant.
 * On its way: until the request is everywhere, and until those inside know of it, users elsewhere go on among
 * themselves. They do so twice each, if message delays are not longer than a critical section.
 *
 * Readers share the lock, so one request lets in any number of them: where there are readers, only the
 * paper's bound holds.
 */
import type { ProtocolName } from '../protocols/protocol.ts'
import type { HistoryHeader } from './events.ts'

const REQUESTS_THAT_GO_FIRST: { readonly [name in ProtocolName]: number } = {
  'wme-1': 1,
  'wme-2': 1,
  'wme-consensus': 1,
  'ricart-agrawala': 1,
  maekawa: 2,
}

const GRANTS_ON_THE_WAY = 2

export function paperBound({ participants }: HistoryHeader, usersAtOnce: number): number {
  return Math.max(participants, usersAtOnce) ** 2
}

/**
 * `usersAt`: by participant, the most users that were active there at once. Returns `null` if the history
 * does not say enough.
 */
export function orderBound(
  header: HistoryHeader,
  participant: number,
  usersAt: ReadonlyMap<number, number>,
): number | null {
  const { protocol, localHandoffs } = header
  if (localHandoffs === undefined || !Object.hasOwn(REQUESTS_THAT_GO_FIRST, protocol)) return null
  const requests = REQUESTS_THAT_GO_FIRST[protocol as ProtocolName]
  const turns = usersAt.get(participant) ?? 1
  let grants = 0
  let onTheWay = 0
  for (const [other, users] of usersAt) {
    if (other === participant || users === 0) continue
    grants += requests * (users > 1 ? 1 + localHandoffs : 1)
    onTheWay += GRANTS_ON_THE_WAY * users
  }
  return turns * grants + (turns - 1) + onTheWay
}
