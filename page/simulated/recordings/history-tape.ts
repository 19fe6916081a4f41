/** A recorded history as a tape: each of its events is a moment. It knows of no messages. */
import type { History, HistoryEvent } from '../../../shared/history/events.ts'
import { parseHistory } from '../../../shared/history/parse.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import type { Cells } from '../../../shared/resource/resource.ts'
import { cellsOf } from '../engine/seat.ts'
import type { Glyph, Mark, Moment, Seat, SeatHolder, Tape } from '../engine/tape.ts'

/** More events than this take a browser too long to show. */
export const MAX_EVENTS = 50_000

const LOCK_ONLY = ['ricart-agrawala', 'maekawa', 'redlock']

/** `text` is what `GET /v1/locks/{lock}/history` answers. Returns a sentence if it is something else. */
export function readHistory(text: string): Tape | string {
  const parsed = parseHistory(text)
  if (!parsed.ok) return `This is no history: line ${parsed.problem.line}: ${parsed.problem.message}`
  const { events } = parsed.history
  if (events.length > MAX_EVENTS)
    return `The page shows at most ${MAX_EVENTS} events; these are ${events.length}.`
  return historyTape(parsed.history)
}

export function historyTape(history: History): Tape {
  const { protocol, participants, resource } = history.header
  const begin = history.events[0]?.at ?? 0
  const seats = new Map<number, Seat>()
  for (let id = 1; id <= participants; id++) seats.set(id, emptySeat(id, !LOCK_ONLY.includes(protocol)))
  const born: Moment = {
    ...{ at: 0, participant: 0, text: 'The history begins', received: null, marks: [] },
    ...{ seats: [...seats.values()], recorded: 0, sent: 0, cuts: [] },
  }
  const replicas = new Map<number, Replica>()
  const moments = history.events.map((event, index): Moment => {
    const participant = 'participant' in event ? event.participant : 0
    const changed = 'participant' in event ? follow(seats, replicas, event, resource) : []
    const text = inWords(event)
    const glyph = GLYPHS[event.type]
    const marks: Mark[] = glyph === undefined ? [] : [{ glyph, participant, text }]
    const place = { at: event.at - begin, participant, text, received: null, marks }
    return { ...place, seats: changed, recorded: index + 1, sent: 0, cuts: [] }
  })
  return {
    protocol,
    guardsState: !LOCK_ONLY.includes(protocol),
    moments: [born, ...moments],
    messages: [],
    history,
  }
}

const emptySeat = (id: number, guardsState: boolean): Seat => ({
  ...{ id, condition: 'up', isMember: true, phase: 'idle', epoch: 0, sequence: 0, committed: 0 },
  ...{ owner: null, suspects: [], waiters: [], holders: [], cells: guardsState ? [] : null },
})

type PlacedEvent = Extract<HistoryEvent, { readonly participant: number }>

interface Replica {
  cells: Cells
}

/** What the event says about its participant. */
function follow(
  seats: Map<number, Seat>,
  replicas: Map<number, Replica>,
  event: PlacedEvent,
  resource: string,
): Seat[] {
  const before = seats.get(event.participant)
  if (before === undefined) return []
  const after = { ...before, ...changeBy(before, event) }
  if (event.type === 'invoke' && resource === keyValue.name) after.cells = apply(replicas, event)
  seats.set(after.id, after)
  return [after]
}

function changeBy(seat: Seat, event: PlacedEvent): Partial<Seat> {
  const others = 'user' in event ? seat.holders.filter(({ user }) => user !== event.user) : []
  const waiters = 'user' in event ? seat.waiters.filter(user => user !== event.user) : []
  switch (event.type) {
    case 'try':
      return { waiters: [...waiters, event.user], phase: seat.phase === 'idle' ? 'requesting' : seat.phase }
    case 'crit': {
      const { user, fence, epoch } = event
      const holder: SeatHolder = { user, fence, expiresAt: null, isIssuing: false }
      return { holders: [...others, holder], waiters, epoch, phase: 'inside', owner: seat.id }
    }
    case 'rem':
    case 'ejected':
    case 'withdrawn':
    case 'crash': {
      const phase = others.length > 0 ? 'inside' : waiters.length > 0 ? 'requesting' : 'idle'
      return { holders: others, waiters, phase, owner: others.length > 0 ? seat.id : null }
    }
    case 'response':
    case 'restore':
    case 'restart':
      return { sequence: event.sequence, committed: event.sequence }
    case 'wipe':
      return { sequence: 0, committed: 0, cells: [] }
    default:
      return {}
  }
}

/** Replays the operation, as the checker does. */
function apply(
  replicas: Map<number, Replica>,
  event: Extract<PlacedEvent, { type: 'invoke' }>,
): Seat['cells'] {
  const replica = replicas.get(event.participant) ?? { cells: { ...keyValue.initial() } }
  replicas.set(event.participant, replica)
  for (const { cell, value } of keyValue.apply(replica.cells, event.operation, event.sequence).changes) {
    if (value === null) delete replica.cells[cell]
    else replica.cells[cell] = value
  }
  return cellsOf(replica.cells)
}

export const GLYPHS: { readonly [type in HistoryEvent['type']]?: Glyph } = {
  try: 'try',
  crit: 'enter',
  issue: 'issue',
  outcome: 'outcome',
  exit: 'exit',
  rem: 'leave',
  ejected: 'ejected',
  withdrawn: 'withdrawn',
  response: 'applied',
  restore: 'restored',
  restart: 'start',
  wipe: 'wipe',
}

export function inWords(event: HistoryEvent): string {
  const who = 'user' in event ? `${event.user} at ${event.participant}` : ''
  switch (event.type) {
    case 'try':
      return `${who} waits`
    case 'crit':
      return `${who} is let in with fence ${event.fence}`
    case 'issue':
      return `${who} issues ${event.opId}`
    case 'outcome':
      return `${who} hears that ${event.opId} is applied`
    case 'exit':
      return `${who} leaves`
    case 'rem':
      return `${who} has left`
    case 'ejected':
      return `${who} is ejected (${event.reason})${event.pending === undefined ? '' : `; ${event.pending.opId}: ${event.pending.outcome}`}`
    case 'withdrawn':
      return `${who} gives up`
    case 'crash':
      return `${who} is gone`
    case 'invoke':
      return `${event.participant} applies ${event.opId}`
    case 'response':
      return `${event.participant} has applied ${event.opId}`
    case 'restore':
      return `${event.participant} takes a snapshot`
    case 'restart':
      return `${event.participant} begins again`
    case 'wipe':
      return `${event.participant} loses its storage`
    case 'members': {
      const { participant, members, by } = event
      const ids = members.map(({ id }) => id).join(', ')
      const why = by === 'follow' ? 'it follows its work' : 'an operator wanted it'
      return `${participant} hears that the lock has the participants ${ids} now: ${why}`
    }
    case 'calm':
      return 'From here on nothing goes wrong'
    case 'fault':
      return 'Something goes wrong'
    case 'healed':
      return `Participants ${event.participants.join(', ')} are up and reach each other from here on`
    case 'settled':
      return 'The failure detectors make no more mistakes'
    case 'end':
      return 'The recording ends'
  }
}
