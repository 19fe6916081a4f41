/**
 * What the participants recorded, in pages: a number of events of each, the oldest first. The cursor says for
 * each that has more where it goes on; one that does not answer is asked again with the next page.
 */
import * as z from 'zod'
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { formatCursor, parseCursor } from '../../../shared/api/ids.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import { readJson } from '../../../shared/api/read-json.ts'
import type { HistoryAnswer } from '../../../shared/api/types.ts'
import type { ParticipantStatus } from '../../participant/calls.ts'
import { json, malformed } from '../answers.ts'
import type { Handlers } from '../context.ts'
import { askAll, refuseIfAbsent } from './locks.ts'

type Events = HistoryAnswer['participants'][number]['events']
/** A participant of before answers with all of its events at once. */
type Page = { readonly events: Events; readonly cursor: string | null } | Events

/** Where each participant goes on. */
const cursors = z.record(
  z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .refine(id => Number(id) <= API_LIMITS.participantNumber.most),
  z.string().nullable(),
)
type Cursors = Readonly<z.output<typeof cursors>>

export const historyHandlers = {
  history: async ({ c, services, parameters: { lock }, query: { limit, cursor } }) => {
    const from = cursor === undefined ? null : parseCursors(cursor)
    if (cursor !== undefined && from === null) {
      return malformed(c, [{ in: 'query', path: 'cursor', message: 'is not the cursor of an earlier page' }])
    }
    // A list of events does not say what the lock is made of; a status does.
    const views = await askAll<ParticipantStatus>(services, lock, () => ({ type: 'status' }))
    const refusal = refuseIfAbsent(c, services, lock, views)
    if (refusal !== null) return refusal
    const { routing, times } = services
    const callFor = ({ id }: ParticipantPlace) =>
      isAsked(from, id) ? ({ type: 'history', limit, cursor: from?.[id] ?? null } as const) : null
    // Those that were participants have recorded what happened while they were.
    const pages = await askAll<Page>(services, lock, callFor, times.statusMs, routing.formerOf(lock))
    const { protocol, resource, participants } = routing.configurationOf(lock)
    const former = routing.formerOf(lock).filter(({ id }) => pages.has(id))
    // Also those that had more and are gone, or of which only another router has heard.
    const asked = from === null ? [...participants, ...former].map(({ id }) => id) : idsIn(from)
    const answer: HistoryAnswer = {
      lock,
      protocol,
      resource,
      participants: asked.map(id => {
        return { id, reachable: pages.has(id), events: eventsOf(pages.get(id)) }
      }),
      cursor: nextCursor(asked, pages, from),
    }
    return json(c, 200, answer)
  },
} satisfies Partial<Handlers>

const idsIn = (from: Cursors): number[] => Object.keys(from).map(Number)

function isAsked(from: Cursors | null, id: number): boolean {
  return from === null || Object.hasOwn(from, id)
}

function eventsOf(page: Page | undefined): Events {
  if (page === undefined) return []
  return 'events' in page ? page.events : page
}

/** `null` when nobody that answers has more. */
function nextCursor(
  asked: readonly number[],
  pages: ReadonlyMap<number, Page>,
  from: Cursors | null,
): string | null {
  const next: { [id: string]: string | null } = {}
  let hasMore = false
  for (const id of asked) {
    const page = pages.get(id)
    if (page === undefined) next[id] = from?.[id] ?? null
    else if ('events' in page && page.cursor !== null) {
      next[id] = page.cursor
      hasMore = true
    }
  }
  return hasMore ? formatCursor(JSON.stringify(next)) : null
}

function parseCursors(text: string): Cursors | null {
  const inner = parseCursor(text)
  const read = inner === null ? null : readJson(inner)
  if (read === null || !read.ok) return null
  const checked = cursors.safeParse(read.value)
  return checked.success && Object.keys(checked.data).length > 0 ? checked.data : null
}
