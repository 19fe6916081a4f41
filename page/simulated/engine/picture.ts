/** The lock after some moments of a tape, as the components of page/view draw it. */
import type {
  CellPicture,
  HolderPicture,
  LockPicture,
  MessagePicture,
  NewsPicture,
  ParticipantPicture,
  TokenPicture,
  WaitingPicture,
} from '../../view/lock-picture.ts'
import { type Section, sectionsOf } from './sections.ts'
import { type Glyph, type Moment, type Seat, seatsAt, type Tape } from './tape.ts'
import { messageName } from './words.ts'

const NEWS_SHOWN = 40
/** The names of more messages than this cover each other. */
const MESSAGES_NAMED = 8

/** `now` may be a little later than the last moment. */
export function pictureAt(
  tape: Tape,
  position: number,
  now = tape.moments[position - 1]?.at ?? 0,
): LockPicture {
  const seats = seatsAt(tape, position)
  const inside = sectionsOf(tape, position).filter(({ to }) => to === null)
  const latest = inside.reduce<Section | null>(
    (one, other) => (other.fence > (one?.fence ?? -1) ? other : one),
    null,
  )
  const holder = latest === null ? null : holderOf(tape, latest, seats)
  const token = tokenOf(seats)
  return {
    lock: 'simulated',
    protocol: tape.protocol,
    now,
    participants: seats.map(participantOf),
    token,
    holder,
    waiting: waitingOf(seats),
    explanation: explain(inside, seats),
    state: stateOf(seats),
    news: newsAt(tape.moments, position),
    messages: flightsAt(tape, position, now),
  }
}

const CONDITIONS: { readonly [condition in Seat['condition']]: ParticipantPicture['condition'] } = {
  up: 'up',
  paused: 'silent',
  down: 'down',
  off: 'down',
}

function participantOf(seat: Seat): ParticipantPicture {
  const { id, phase, epoch, sequence, suspects, waiters } = seat
  return {
    id,
    location: null,
    condition: CONDITIONS[seat.condition],
    phase,
    epoch,
    sequence,
    queue: waiters.length,
    suspects,
  }
}

/** What the participant knows that has come furthest. */
function furthest(seats: readonly Seat[]): Seat | null {
  const rank = ({ epoch, sequence, isMember }: Seat) => (isMember ? epoch * 1e6 + sequence : -1)
  return seats.reduce<Seat | null>(
    (one, other) => (one === null || rank(other) > rank(one) ? other : one),
    null,
  )
}

/** The token is on its way as long as its new owner has not heard of it. */
function tokenOf(seats: readonly Seat[]): TokenPicture | null {
  const teller = furthest(seats)
  const owner = teller?.owner ?? seats.find(seat => seat.owner === seat.id)?.id ?? null
  if (owner === null || teller === null) return null
  const knows = seats.find(({ id }) => id === owner)?.owner === owner
  return { at: owner, from: knows || teller.id === owner ? null : teller.id }
}

function holderOf(
  tape: Tape,
  { participant, fence, user, from }: Section,
  seats: readonly Seat[],
): HolderPicture {
  const held = seats.find(({ id }) => id === participant)?.holders.find(one => one.fence === fence)
  const since = tape.moments[from]!.at
  return { participant, fence, owner: user, since, expiresAt: held?.expiresAt ?? null }
}

const waitingOf = (seats: readonly Seat[]): WaitingPicture[] =>
  seats
    .filter(({ waiters }) => waiters.length > 0)
    .map(({ id, waiters }) => ({ participant: id, number: waiters.length, since: null }))

function stateOf(seats: readonly Seat[]): CellPicture[] {
  const known = seats.filter(({ cells, isMember }) => cells !== null && isMember)
  const best = known.reduce<Seat | null>(
    (one, other) => (one === null || other.committed > one.committed ? other : one),
    null,
  )
  return best?.cells?.map(cell => ({ ...cell })) ?? []
}

function explain(inside: readonly Section[], seats: readonly Seat[]): string {
  const waiting = seats.flatMap(({ waiters }) => waiters)
  if (inside.length > 1) {
    const names = inside.map(({ user, participant, fence }) => `${user} at ${participant} (fence ${fence})`)
    return `${names.join(' and ')} all believe that they are inside.`
  }
  const [holder] = inside
  const queue =
    waiting.length === 0 ? 'Nobody waits.' : `${list(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'}.`
  if (holder === undefined) return `Nobody is inside. ${queue}`
  return `${holder.user} is inside, at participant ${holder.participant}. ${queue}`
}

const list = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

const KINDS: { readonly [glyph in Glyph]?: NewsPicture['kind'] } = {
  enter: 'grant',
  outcome: 'operation',
  leave: 'release',
  ejected: 'ejection',
  epoch: 'epoch',
  suspects: 'suspicion',
  trusts: 'suspicion',
  crash: 'fault',
  start: 'fault',
  pause: 'fault',
  resume: 'fault',
  wipe: 'fault',
  cut: 'fault',
  heal: 'fault',
  members: 'members',
}

function newsAt(moments: readonly Moment[], position: number): NewsPicture[] {
  const news: NewsPicture[] = []
  for (let index = position - 1; index >= 0 && news.length < NEWS_SHOWN; index--) {
    const { at, marks } = moments[index]!
    for (const { glyph, text } of [...marks].reverse()) {
      const kind = KINDS[glyph]
      if (kind !== undefined) news.push({ at, kind, text })
    }
  }
  return news.reverse()
}

function flightsAt(tape: Tape, position: number, now: number): MessagePicture[] {
  const sent = tape.moments[position - 1]?.sent ?? 0
  const flights: MessagePicture[] = []
  for (let id = sent - 1; id >= 0 && id >= sent - 400; id--) {
    const { from, to, type, receivedIn, sentAt, arrivesAt } = tape.messages[id]!
    if (arrivesAt === null || arrivesAt < now || (receivedIn !== null && receivedIn < position)) continue
    const progress = Math.min(1, Math.max(0, (now - sentAt) / (arrivesAt - sentAt)))
    flights.push({ id, from, to, type: messageName(type), progress })
  }
  return flights.length <= MESSAGES_NAMED ? flights : flights.map(flight => ({ ...flight, type: '' }))
}
