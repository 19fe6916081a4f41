/**
 * What a watcher has missed, in pages that it gets as it reads: the changes since it was last there, or the
 * whole state if some of them are gone. None of it waits in memory for a watcher that does not read.
 *
 * All watchers that need the state read the same copy of it (its values are never changed, only replaced),
 * and read what has changed since then from the log of events. So there is at most one such copy.
 */
import type { Json } from '../../../shared/json.ts'
import { isAside } from '../../../shared/resource/import.ts'
import { keyOfCell, readKey } from '../../../shared/resource/key-value.ts'
import type { Cells } from '../../../shared/resource/resource.ts'
import type { ChangesPlace, EventLog, WatchEvent } from '../core/event-log.ts'
import { noteTold, type ToldHolder } from './holder-knowledge.ts'

/** About this much is given to a watcher at once, when it has read everything before. */
export const PAGE_LENGTH = 16 * 1024

/** The state as it was. */
export interface Frozen {
  readonly sequence: number
  readonly cells: Readonly<Cells>
  readonly names: readonly string[]
}

/** Where a watcher stands that does not get events as they happen. */
export type Behind =
  | ({ readonly type: 'changes' } & ChangesPlace)
  | { readonly type: 'snapshot'; readonly frozen: Frozen; readonly next: number; readonly isAnew?: true }
  /** What it has seen was another lock of the same name, which was deleted. */
  | { readonly type: 'stale' }

export interface Page {
  readonly text: string
  /** `null`: this was all, up to now. */
  readonly behind: Behind | null
}

export function freeze(cells: Readonly<Cells>, sequence: number): Frozen {
  return { sequence, cells: { ...cells }, names: Object.keys(cells).filter(cell => !isAside(cell)) }
}

/** `null`: changes are missing. */
export function nextPage(events: EventLog, behind: Behind, holder: ToldHolder): Page | null {
  if (behind.type === 'stale') return null
  return behind.type === 'changes' ? changesPage(events, behind, holder) : snapshotPage(behind)
}

/** Of holders, only those that the watcher was not told before it fell behind. */
function changesPage(events: EventLog, place: ChangesPlace, holder: ToldHolder): Page | null {
  const page = events.changesPage(place, PAGE_LENGTH)
  if (page === null) return null
  const changes = page.changes.filter(({ event, data }) => event !== 'holder' || noteTold(holder, data))
  return { text: changes.map(format).join(''), behind: page.next && { type: 'changes', ...page.next } }
}

/** The event is one line of JSON, written piece by piece. The changes since then follow it. */
export function snapshotPage({ frozen, next, isAnew }: Extract<Behind, { type: 'snapshot' }>): Page {
  const { sequence, cells, names } = frozen
  const anew = isAnew ? '"anew":true,' : ''
  let text =
    next === 0 ? `id: ${sequence}\nevent: snapshot\ndata: {"sequence":${sequence},${anew}"entries":[` : ''
  let at = next
  for (; at < names.length && text.length < PAGE_LENGTH; at++) {
    const key = keyOfCell(names[at]!)
    text += `${at > 0 ? ',' : ''}${JSON.stringify({ key, ...readKey(cells, key) })}`
  }
  if (at < names.length) return { text, behind: { type: 'snapshot', frozen, next: at } }
  return { text: `${text}]}\n\n`, behind: { type: 'changes', since: sequence, afterStep: 0 } }
}

export function format({ event, sequence, data }: WatchEvent): string {
  return `id: ${sequence}\nevent: ${event}\ndata: ${JSON.stringify(data satisfies Json)}\n\n`
}
