/**
 * An export is read in pages: what was remembered and the state, as they were at one point. All that is kept
 * for it is in memory, and bounded: the state as it was is the copy that watchers read, too; results that the
 * lock has forgotten since then are kept as long as they are few. An export that nobody goes on reading is
 * over.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Json } from '../../../shared/json.ts'
import { type Replica, resultOf, type StoredResult } from '../../../shared/resource/replica.ts'
import { type ExportHead, type ExportPage, exportGone } from '../calls/export.ts'
import { tooMany } from '../calls/refusals.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { Ticks } from '../core/ticks.ts'
import type { Timers } from '../core/timers.ts'
import { weigh } from '../core/weigh.ts'
import type { Frozen } from './replay.ts'

export interface ExportsHost {
  readonly timers: Timers
  now(): number
  newId(): string
  /** `null` where there is none at present. */
  replica(): Replica | null
  /** The state as it is now; it is kept until `thaw`. */
  freeze(): Frozen
  thaw(): void
}

/** How often it is checked what is still read. */
const CHECK_MS = 1_000
/** An export whose next page nobody asks for is over. */
const IDLE_MS = 15_000
const MAX_READERS = 16

/** What is exported. */
interface Point {
  readonly head: ExportHead
  readonly frozen: Frozen
  /** Its cells, without those of an import that is not finished, and perhaps never will be. */
  readonly names: readonly string[]
  /** `null`: every reader has it. */
  readonly results: (StoredResult | null)[]
}

interface Reader {
  /** The first item that it may still ask for: results come first, then cells. */
  next: number
  askedAt: number
  /** It has been given everything, and asks for no more than the last page again. */
  isDone: boolean
}

export class Exports {
  private readonly host: ExportsHost
  private point: Point | null = null
  private readonly readers = new Map<string, Reader>()
  private readonly checks: Ticks

  constructor(host: ExportsHost) {
    this.host = host
    this.checks = new Ticks({
      ...{ timers: host.timers, everyMs: CHECK_MS },
      now: () => host.now(),
      tick: () => this.check(),
    })
  }

  /** Whether the state as it was is needed. */
  get isOpen(): boolean {
    return this.point !== null
  }

  /** The first page of what this participant has now. `head` must be of now, too. */
  begin(head: ExportHead, replica: Replica): ParticipantAnswer {
    // An answer that was lost is asked for at once. Nobody waits for one that has all.
    if ([...this.readers.values()].every(({ isDone }) => isDone)) this.endAll()
    const isSame = ({ epoch, sequence }: ExportHead) => epoch === head.epoch && sequence === head.sequence
    const isAnother = this.point !== null && !isSame(this.point.head)
    if (isAnother || this.readers.size >= MAX_READERS)
      return tooMany('This lock is being exported already. Ask again when that is over.')
    const results = replica.order.map(opId => resultOf(replica, opId)!)
    if (this.point === null) {
      const frozen = this.host.freeze()
      this.point = { head, frozen, names: frozen.names, results }
      this.checks.begin()
    }
    // Nothing was done since then, so what the others have read already is still remembered.
    else this.point = { ...this.point, results }
    const id = this.host.newId()
    this.readers.set(id, { next: 0, askedAt: this.host.now(), isDone: false })
    return this.page(id, 0)
  }

  /** Also a page that was asked for before, if none after it was. */
  page(id: string, next: number): ParticipantAnswer {
    const reader = this.readers.get(id)
    if (reader === undefined || this.point === null || next < reader.next) return exportGone
    reader.next = next
    reader.askedAt = this.host.now()
    this.forgetRead()
    const page = pageOf(this.point, id, next)
    reader.isDone = page.next === null
    // Whoever begins has nothing that could be asked for again.
    if (reader.isDone && next === 0) this.end(id)
    return { type: 'done', status: 200, body: page as unknown as Json }
  }

  /** Nobody reads it any more. */
  end(id: string): void {
    this.readers.delete(id)
    if (this.readers.size === 0) this.endAll()
  }

  /** What was to be read is gone, or too much. */
  endAll(): void {
    this.readers.clear()
    if (this.point === null) return
    this.point = null
    this.host.thaw()
  }

  /** Returns whether anything is still read. */
  private check(): boolean {
    const now = this.host.now()
    // The clock may have been set back.
    const isIdle = ({ askedAt }: Reader) => Math.abs(now - askedAt) > IDLE_MS
    for (const [id, reader] of this.readers) if (isIdle(reader)) this.end(id)
    const replica = this.host.replica()
    if (replica === null || this.forgottenWeight(replica) > API_LIMITS.exportForgottenWeight) this.endAll()
    return this.isOpen
  }

  /** Of results that only the export has. */
  private forgottenWeight({ droppedThrough }: Replica): number {
    let weight = 0
    for (const stored of this.point?.results ?? []) {
      if (stored === null) continue
      if (stored.sequence > droppedThrough) break
      weight += weigh(stored.result) + stored.opId.length
    }
    return weight
  }

  private forgetRead(): void {
    const { results } = this.point!
    const read = Math.min(...[...this.readers.values()].map(({ next }) => next))
    for (let index = Math.min(read, results.length) - 1; index >= 0 && results[index] !== null; index--)
      results[index] = null
  }
}

/** A page ends where it is heavy enough; it always has an item, so that whoever reads gets on. */
function pageOf({ head, frozen, names, results }: Point, id: string, next: number): ExportPage {
  const { cells } = frozen
  const page: { results: StoredResult[]; cells: { cell: string; value: Json }[] } = { results: [], cells: [] }
  const count = results.length + names.length
  let heavy = 0
  let at = next
  for (; at < count && heavy < API_LIMITS.exportPageWeight; at++) {
    if (at < results.length) {
      const stored = results[at]!
      heavy += weigh(stored as unknown as Json)
      page.results.push(stored)
    } else {
      const cell = names[at - results.length]!
      const value = cells[cell]!
      heavy += cell.length + weigh(value)
      page.cells.push({ cell, value })
    }
  }
  return { ...(next === 0 && { head }), id, ...page, next: at < count ? at : null }
}
