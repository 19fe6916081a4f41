/**
 * A lock is exported, and imported under another name. A copy that was made has everything of the export; one
 * whose making failed is not there, is empty, or has everything all the same: never a part.
 */
import { BatonError } from '../../../client/index.ts'
import type { LockExport } from '../../../shared/api/types.ts'
import { equalJson } from '../../../shared/history/compare.ts'
import type { Json } from '../../../shared/json.ts'
import { violate } from '../violation.ts'
import type { Action } from './plan-actions.ts'
import type { SimClient } from './sim-client.ts'

export async function copyLock(client: SimClient, action: Extract<Action, { type: 'copy' }>): Promise<void> {
  const { lock, copy, thinkMs } = action
  const { journal, counts, loop } = client.world
  const begunAt = loop.now
  const exported = (await client.connect().lock(lock).export()) as unknown as LockExport
  journal.exported({ lock, by: client.name, begunAt, exported })
  await client.sleep(thinkMs)
  const made = client.connect().lock(copy)
  let isMade = false
  let isDenied = false
  try {
    await made.importFrom(exported as never)
    isMade = true
    counts.imports++
  } catch (error) {
    if (!client.isExpected(error)) return
    counts.importsRefused++
    isDenied = error.outcome === 'not-applied'
    client.note(`import of ${copy}: ${error.message}`)
  }
  const found = await made.export().catch((error: unknown) => {
    if (error instanceof BatonError) return null
    throw error
  })
  if (found === null) return
  judgeCopy(copy, exported, found as unknown as LockExport, isMade)
  if (isDenied && !isEmpty(found as unknown as LockExport))
    violate('outcomes', `${copy} was imported, and whoever did so was told that it was not`)
}

function judgeCopy(copy: string, exported: LockExport, found: LockExport, isMade: boolean): void {
  if (!isMade && isEmpty(found)) return
  if (!equalJson(inOrder(found), inOrder(exported)))
    violate('imports', `${copy} has ${JSON.stringify(found.cells)} of ${JSON.stringify(exported.cells)}`)
  // Its own operations may have pushed the oldest results out.
  const [had, has] = [exported.results as unknown as Json[], ownResults(found)]
  const left = has.length === 0 ? [] : had.slice(-has.length)
  const isForgotten = has.length < had.length && found.droppedThrough <= exported.droppedThrough
  if (isForgotten || !equalJson(has, left))
    violate('imports', `${copy} remembers ${has.length} results of ${had.length}, or others`)
  if (found.sequence < exported.sequence || found.epoch <= exported.epoch)
    violate('imports', `${copy} is not above ${exported.lock}: ${found.epoch} ${found.sequence}`)
}

const isEmpty = (found: LockExport): boolean => found.cells.length === 0 && ownResults(found).length === 0

const inOrder = ({ cells }: LockExport): Json =>
  [...cells].sort((one, other) => (one.cell < other.cell ? -1 : 1)) as unknown as Json

/** Without those of the import itself. */
const ownResults = ({ results }: LockExport): Json[] =>
  results.filter(({ opId }) => !opId.startsWith('import/')) as unknown as Json[]
