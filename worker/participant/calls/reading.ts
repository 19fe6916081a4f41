/** What a participant tells of the guarded state: a key, a page of keys. */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Json } from '../../../shared/json.ts'
import { weight } from '../../../shared/resource/canonical.ts'
import { isAside } from '../../../shared/resource/import.ts'
import { cellOfKey, keyOfCell, readKey } from '../../../shared/resource/key-value.ts'
import type { Cells } from '../../../shared/resource/resource.ts'
import type { ParticipantAnswer, ParticipantCall } from '../calls.ts'

type Call<Type extends ParticipantCall['type']> = Extract<ParticipantCall, { type: Type }>
type Entry = { readonly key: string; readonly value: Json; readonly revision: number }

export function readOne(cells: Readonly<Cells>, sequence: number, { key }: Call<'get'>): ParticipantAnswer {
  if (cells[cellOfKey(key)] === undefined) {
    return { type: 'problem', code: 'no_such_key', detail: `There is no key ${JSON.stringify(key)}.` }
  }
  return { type: 'done', status: 200, body: { ...entryOf(cells, key), sequence } }
}

/**
 * A page ends where it is long or heavy enough; it always has an entry, so that whoever pages through gets
 * on.
 */
export function readPage(cells: Readonly<Cells>, sequence: number, call: Call<'list'>): ParticipantAnswer {
  const keys = Object.keys(cells)
    .filter(cell => !isAside(cell))
    .map(keyOfCell)
    .filter(key => key.startsWith(call.prefix) && (call.after === null || key > call.after))
    .sort()
  const entries: Entry[] = []
  let heavy = 0
  for (const key of keys.slice(0, call.limit)) {
    const entry = entryOf(cells, key)
    heavy += weight(entry, API_LIMITS.listWeight)
    if (entries.length > 0 && heavy > API_LIMITS.listWeight) break
    entries.push(entry)
  }
  const cursor = keys.length > entries.length ? entries.at(-1)!.key : null
  return { type: 'done', status: 200, body: { entries, cursor, sequence } }
}

function entryOf(cells: Readonly<Cells>, key: string): Entry {
  return { key, ...readKey(cells, key) }
}
