/**
 * Nothing grows without bound: neither what an object stores nor, once nobody wants anything, what it has
 * in memory.
 */
import type { ParticipantStatus } from '../../../worker/participant/calls.ts'
import { Violation } from '../violation.ts'
import { SimRequest } from './http.ts'
import { isMemberOf } from './losses.ts'
import { EVENTS_KEPT } from './participant-entries.ts'
import type { SimObject } from './sim-object.ts'
import type { World } from './world.ts'

/** Rows of the kinds that do not multiply. */
const FEW = 60
/** What one turn may add before old rows are forgotten. */
const SLACK = 40
/** Segments grow like powers of two. */
const SEGMENT_ROWS = 20

export function judgeStorage({ objects, plan }: World): void {
  const { logKept, uncommitted, resultsKept } = plan.limits
  for (const object of objects.values()) {
    const kinds = rowsByKind(object)
    const atMost = (kind: string, most: number) => {
      const rows = kinds.get(kind) ?? 0
      kinds.delete(kind)
      if (rows > most) grows(object, `${rows} rows of ${kind}, and not ${most} at the most`)
    }
    atMost('log', logKept + uncommitted + SLACK)
    atMost('result', resultsKept)
    atMost('cell', FEW)
    const others = [...kinds.values()].reduce((sum, rows) => sum + rows, 0)
    if (others > FEW) grows(object, `${others} rows: ${JSON.stringify([...kinds])}`)
    const { superfluousSteps, segmentRows } = object.disk
    if (superfluousSteps > EVENTS_KEPT) grows(object, `${superfluousSteps} steps of history too many`)
    if (segmentRows > SEGMENT_ROWS) grows(object, `${segmentRows} rows of segments`)
  }
}

/** The kinds of rows that are there only while somebody waits. */
const WAITING = ['waiter', '.ticket']

export function hasWaiters(object: SimObject): boolean {
  const kinds = rowsByKind(object)
  return WAITING.some(kind => kinds.has(kind))
}

/** For a lock that nobody uses. */
export async function judgeMemory(object: SimObject): Promise<void> {
  const kinds = rowsByKind(object)
  for (const kind of WAITING) {
    if (kinds.has(kind)) grows(object, `${kinds.get(kind)} rows of ${kind} though nobody waits`)
  }
  if (object.entries === null || !isMemberOf(object)) return
  const status = await statusOf(object)
  if (status === null) return
  const { queue, holder, gauges } = status
  const { calls, watchers } = gauges!
  // The call that asks counts as one of them.
  if (calls > 1 || watchers > 0 || queue > 0 || holder !== null) {
    grows(object, `${JSON.stringify({ calls, watchers, queue, holder })} though nobody wants anything`)
  }
}

/** Asks the participant itself. One that sleeps is woken. */
export async function statusOf(object: SimObject): Promise<ParticipantStatus | null> {
  const body = JSON.stringify({ call: { type: 'status' } })
  const request = new SimRequest('https://participant/call', { method: 'POST', body })
  const response = await object.wake().entries.fetch(request, () => {
    throw new Error('no session was asked for')
  })
  const answer = (await response.json()) as { readonly type: string; readonly body: unknown }
  return answer.type === 'done' ? (answer.body as ParticipantStatus) : null
}

function rowsByKind({ disk }: SimObject): Map<string, number> {
  const kinds = new Map<string, number>()
  for (const key of disk.durableRecords().keys()) {
    const [kind] = key.split('/')
    kinds.set(kind!, (kinds.get(kind!) ?? 0) + 1)
  }
  return kinds
}

function grows({ name }: SimObject, what: string): never {
  throw new Violation('safety', 'bounds', `${name} has ${what}`)
}
