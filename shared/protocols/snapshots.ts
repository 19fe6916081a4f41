/**
 * Snapshots in pages. A participant that is further behind than the kept log reaches is offered a snapshot by
 * a peer, and asks that peer for it page by page. It asks again for a page that is lost; after a crash on
 * either side the transfer starts over. What has arrived so far is soft state: it counts for nothing until
 * the last page is here, and then it is installed in one transaction.
 *
 * The sender goes on applying operations meanwhile. It sends each cell as it is at that moment and notes what
 * it has sent. After the last cell it sends those that have changed since, and so on, until one page brings
 * the receiver to the sender's present state. That page says which point of the log the snapshot is of. So
 * that this ends even while operations go on, each round over the changes may fill pages twice as heavy as
 * the round before.
 *
 * A sender serves one participant at a time. Another one asks again until it is its turn.
 */
import type { Json } from '../json.ts'
import { canonical, weight } from '../resource/canonical.ts'
import { type Replica, type ReplicaSnapshot, resultOf, type StoredResult } from '../resource/replica.ts'
import type { CellChange, Cells } from '../resource/resource.ts'
import type { Context, Effect, ParticipantId, Timing } from './protocol.ts'
import { type SetTimers, send, setTimer } from './step.ts'

// ---------------------------------------------------------------- messages

/**
 * The receiver chooses `name` anew each time that it begins, and so does the sender with `series`: a first
 * request that arrives twice, perhaps after a crash of the sender, makes another series of pages under the
 * same name, and pages of two series do not go together.
 */
export interface SnapshotRequestMessage {
  readonly type: 'snapshot-request'
  readonly name: string
  readonly number: number
  /** `null` in a request for the first page. */
  readonly series: string | null
}

/** `Point` says which point of the log the snapshot is of. It comes with the last page. */
export interface SnapshotPageMessage<Point> {
  readonly type: 'snapshot-page'
  readonly name: string
  readonly series: string
  readonly number: number
  readonly cells: readonly CellChange[]
  readonly results: readonly StoredResult[]
  readonly point: Point | null
}

/** The sender does not know this snapshot, or is busy with another participant's. */
export interface SnapshotGoneMessage {
  readonly type: 'snapshot-gone'
  readonly name: string
}

export type SnapshotMessage<Point> = SnapshotRequestMessage | SnapshotPageMessage<Point> | SnapshotGoneMessage

// ---------------------------------------------------------------- state

/** The snapshot that this participant is sending. */
export interface Outgoing<Point> {
  readonly to: ParticipantId
  /** When the receiver last asked for a page. */
  askedAt: number
  /** What the receiver has of each cell, once it has the last page. */
  sent: Cells
  /** The cells of this round that are still to be sent. */
  queue: string[]
  /** Rounds over cells that changed meanwhile. */
  rounds: number
  /** The newest result that was sent. */
  resultsThrough: number
  /** The page as it was sent: if the receiver asks for it again, it must be the same. */
  page: SnapshotPageMessage<Point>
}

/** The snapshot that this participant is being sent. */
export interface Incoming {
  readonly from: ParticipantId
  readonly name: string
  /** Of the first page; `null` before it is here. */
  series: string | null
  /** The number of the page that is being asked for. */
  number: number
  cells: Cells
  results: StoredResult[]
  /** How often that page was asked for. */
  tries: number
  /** How many senders in a row were given up for the next one before this. */
  readonly givenUp: number
}

interface Step<Point> {
  readonly context: Context
  readonly now: number
  readonly effects: { push(effect: Effect<SnapshotMessage<Point>>): unknown }
  readonly timers: SetTimers<'snapshot'>
  readonly state: {
    readonly durable: { readonly replica: Replica }
    readonly soft: { incoming: Incoming | null; outgoing: Outgoing<Point> | null }
  }
}

// ---------------------------------------------------------------- the sender

/** A participant that has not asked for a page for this long must let another one go first. */
const turnMs = ({ repeatMaxMs }: Timing): number => 4 * repeatMaxMs

/**
 * If no other participant wants a snapshot, the receiver has much longer to ask for the next page, and some
 * time to ask for the last one again.
 */
const servingMs = ({ repeatMaxMs }: Timing, isLast: boolean): number => (isLast ? 1 : 8) * repeatMaxMs

export function onSnapshotRequest<Point>(
  step: Step<Point>,
  from: ParticipantId,
  { name, number, series }: SnapshotRequestMessage,
  present: () => Point,
  nextSeries: () => string,
): void {
  const { soft } = step.state
  const { outgoing } = soft
  const isKnown = outgoing?.to === from && outgoing.page.name === name
  if (isKnown && (number === 0 || series === outgoing.page.series)) {
    const isNext = number === outgoing.page.number + 1 && outgoing.page.point === null
    if (isNext) outgoing.page = nextPage(step, outgoing, number, present)
    else if (number !== outgoing.page.number) return
  } else {
    if (number !== 0 || isBusyWithAnother(step, from))
      return send(step, from, { type: 'snapshot-gone', name })
    soft.outgoing = begin(step, from, name, nextSeries(), present)
  }
  const { page } = soft.outgoing!
  soft.outgoing!.askedAt = step.now
  send(step, from, page)
  setTimer(step, 'snapshot', servingMs(step.context.config.timing, page.point !== null))
}

function isBusyWithAnother<Point>({ state, context, now }: Step<Point>, participant: ParticipantId): boolean {
  const { outgoing } = state.soft
  if (outgoing === null || outgoing.to === participant || outgoing.page.point !== null) return false
  return now - outgoing.askedAt < turnMs(context.config.timing)
}

/** The receiver has not asked for a page for too long. */
export function onSnapshotTimer<Point>(step: Step<Point>): void {
  step.state.soft.outgoing = null
}

function begin<Point>(
  step: Step<Point>,
  to: ParticipantId,
  name: string,
  series: string,
  present: () => Point,
): Outgoing<Point> {
  const page: SnapshotPageMessage<Point> = {
    type: 'snapshot-page',
    name,
    series,
    number: 0,
    cells: [],
    results: [],
    point: null,
  }
  const queue = Object.keys(step.state.durable.replica.cells)
  const askedAt = step.now
  const outgoing: Outgoing<Point> = { to, askedAt, sent: {}, queue, rounds: 0, resultsThrough: 0, page }
  outgoing.page = nextPage(step, outgoing, 0, present)
  return outgoing
}

function nextPage<Point>(
  step: Step<Point>,
  outgoing: Outgoing<Point>,
  number: number,
  present: () => Point,
): SnapshotPageMessage<Point> {
  const { replica } = step.state.durable
  const { messageWeight } = step.context.config.limits
  const cells: CellChange[] = []
  const results: StoredResult[] = []
  let room = messageWeight * 2 ** outgoing.rounds
  const isFull = () => room <= 0
  const { name, series } = outgoing.page
  const page = (point: Point | null): SnapshotPageMessage<Point> => ({
    ...{ type: 'snapshot-page', name, series, number, cells, results, point },
  })
  for (;;) {
    for (let cell = outgoing.queue.pop(); cell !== undefined; cell = outgoing.queue.pop()) {
      const value = replica.cells[cell] ?? null
      if (value === null) delete outgoing.sent[cell]
      else outgoing.sent[cell] = value
      cells.push({ cell, value })
      room -= cell.length + weigh(value)
      if (isFull()) return page(null)
    }
    for (const result of resultsAfter(replica, outgoing.resultsThrough)) {
      results.push(result)
      outgoing.resultsThrough = result.sequence
      room -= result.opId.length + weigh(result.result)
      if (isFull()) return page(null)
    }
    outgoing.queue = changedCells(replica.cells, outgoing.sent)
    if (outgoing.queue.length === 0) return page(present())
    outgoing.rounds++
  }
}

const weigh = (value: Json): number => weight(value, Number.POSITIVE_INFINITY)

/** Oldest first, like the table itself. */
function* resultsAfter(replica: Replica, sequence: number): Generator<StoredResult> {
  let first = replica.order.length
  while (first > 0 && resultOf(replica, replica.order[first - 1]!)!.sequence > sequence) first--
  for (const opId of replica.order.slice(first)) yield resultOf(replica, opId)!
}

/**
 * A cell's value is replaced, never changed in place, so for most cells identity shows that they have not
 * changed.
 */
function changedCells(now: Cells, sent: Cells): string[] {
  const changed: string[] = []
  for (const cell of Object.keys(now)) {
    const [here, there] = [now[cell]!, sent[cell]]
    if (here !== there && (there === undefined || canonical(here) !== canonical(there))) changed.push(cell)
  }
  for (const cell of Object.keys(sent)) if (now[cell] === undefined) changed.push(cell)
  return changed
}

// ---------------------------------------------------------------- the receiver

/**
 * After this many attempts without an answer a page is not asked for again: the sender may be gone, or may
 * have forgotten the snapshot.
 */
const MAX_TRIES = 12

/** More patience than this would exceed `MAX_TRIES`. */
const MAX_GIVEN_UP = Math.ceil(Math.log2(MAX_TRIES))

/** A snapshot is given up for another one sooner while nothing has arrived that would be lost with it. */
const STALLED_TRIES = { first: 1, later: 3 }

/**
 * Whether a snapshot is coming, so that nothing else need be asked for. A sender that does not answer must
 * not keep others from helping. Each snapshot that was given up doubles the patience with the next one, so
 * that where all senders are slow one transfer still comes to its end.
 */
export function isComing(incoming: Incoming | null): incoming is Incoming {
  if (incoming === null) return false
  const { number, tries, givenUp } = incoming
  const patience = (number === 0 ? STALLED_TRIES.first : STALLED_TRIES.later) * 2 ** givenUp
  return tries < Math.min(patience, MAX_TRIES)
}

/**
 * Whether to take an offer. The sender of the snapshot that is coming offers nothing new, unless it has
 * forgotten.
 */
export function isWelcome(incoming: Incoming | null, from: ParticipantId): boolean {
  if (incoming?.from === from) return incoming.tries >= MAX_TRIES
  return !isComing(incoming)
}

/** A peer has offered a snapshot. */
export function requestSnapshot<Point>(step: Step<Point>, from: ParticipantId, name: string): void {
  const { soft } = step.state
  const givenUp = soft.incoming === null ? 0 : Math.min(soft.incoming.givenUp + 1, MAX_GIVEN_UP)
  soft.incoming = { from, name, series: null, number: 0, cells: {}, results: [], tries: 0, givenUp }
  sendRequest(step, soft.incoming)
}

function sendRequest<Point>(step: Step<Point>, { from, name, number, series }: Incoming): void {
  send(step, from, { type: 'snapshot-request', name, number, series })
}

/** Notes what is in the page. Returns the snapshot and its point if this was the last page. */
export function onSnapshotPage<Point>(
  step: Step<Point>,
  from: ParticipantId,
  page: SnapshotPageMessage<Point>,
): { readonly point: Point; readonly replica: Omit<ReplicaSnapshot, 'droppedThrough'> } | null {
  const { soft } = step.state
  const { incoming } = soft
  if (incoming?.from !== from || incoming.name !== page.name || incoming.number !== page.number) return null
  if (incoming.series !== null && incoming.series !== page.series) return null
  incoming.series = page.series
  for (const { cell, value } of page.cells) {
    if (value === null) delete incoming.cells[cell]
    else incoming.cells[cell] = value
  }
  // Older results will have been dropped by the point that the snapshot is of.
  const { resultsKept } = step.context.config.limits
  incoming.results = [...incoming.results, ...page.results].slice(-resultsKept)
  if (page.point !== null) {
    soft.incoming = null
    return { point: page.point, replica: { cells: incoming.cells, results: incoming.results } }
  }
  incoming.number++
  incoming.tries = 0
  sendRequest(step, incoming)
  return null
}

/** The repeat timer does the rest. Asking again at once could go on without end. */
export function onSnapshotGone<Point>(
  step: Step<Point>,
  from: ParticipantId,
  message: SnapshotGoneMessage,
): void {
  const { incoming } = step.state.soft
  if (incoming?.from === from && incoming.name === message.name) incoming.tries = MAX_TRIES
}

/**
 * Asks for the page again. If the transfer is given up, returns its sender, which may be asked for another
 * snapshot.
 */
export function repeatSnapshotRequest<Point>(step: Step<Point>): ParticipantId | null {
  const { soft } = step.state
  const { incoming } = soft
  if (incoming === null) return null
  if (incoming.tries >= MAX_TRIES) {
    soft.incoming = null
    return incoming.from
  }
  incoming.tries++
  sendRequest(step, incoming)
  return null
}
