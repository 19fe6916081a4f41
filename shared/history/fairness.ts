/**
 * How often others may be let in between a `try` and its `crit` while nothing goes wrong.
 *
 * The paper's bound, of all protocols: N² grants. It has one user for each of N processes. Where a participant has several, each
 * of them waits like a process of its own: N is then the largest number of users that were active at once.
 *
 * The bound that the order of requests gives is mostly far below that. It is the product of three numbers, and what is on its way:
 *   - *turns*: users of one participant wait in a queue, and one turn of the participant lets in one of them at least. So a
 *     user needs as many turns as users are at its participant, itself included.
 *   - *requests of each other participant that go first*, once the request of this turn has reached everybody:
 *       wme-1, wme-2       1: whoever owns the token has the older requests before it in its queue, the newer ones behind it;
 *       wme-consensus      1: requests are decided in one log, and granted in its order;
 *       ricart-agrawala    1: who has processed the request chooses higher numbers ("no other node may enter its critical section
 *                          twice"). Rings, moduli, increments and names (6.3, 6.4, 6.5, 7.1) change which numbers those are, not that
 *                          they are higher;
 *       maekawa            2: each other node has a member in common with the one that waits. It may hold that member's lock
 *                          already, or have chosen its number before it heard from that member again; what the member says
 *                          to it next carries the number of the one that waits, and all later requests come after that.
 *   - *grants under one request*: 1, and `localHandoffs` more if other users wait at the same participant.
 * On its way: until the request is everywhere, and until those inside know of it, users elsewhere go on among themselves: twice
 * each, which is what message delays allow that are not longer than a stay.
 *
 * Readers share the lock, so one request lets in any number of them: where there are readers, the paper's bound is all.
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

/** `usersAt`: by participant, the most users that were active there at once. `null`: the history does not say enough. */
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
