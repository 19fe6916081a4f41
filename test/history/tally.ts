/**
 * A tiny resource for the judge's own tests: a running total. `{ add: n }` answers the new total and how many
 * were added so far, so that both an operation left out and two that changed places show in the results.
 */
import type { Json } from '../../shared/json.ts'
import type { Applied, Cells, Resource } from '../../shared/resource/resource.ts'

export type TallyOperation = { readonly add: number }
type Tally = { readonly total: number; readonly count: number }

const tallyOf = (cells: Readonly<Cells>): Tally =>
  (cells.tally as Tally | undefined) ?? { total: 0, count: 0 }

export const tally: Resource = {
  name: 'tally',
  initial: () => ({}),
  apply(cells, operation): Applied {
    const { add } = operation as { readonly add?: Json }
    if (typeof add !== 'number') throw new Error('not an operation of a tally')
    const before = tallyOf(cells)
    const value = { total: before.total + add, count: before.count + 1 }
    return { result: value, changes: [{ cell: 'tally', value }] }
  },
  snapshot: cells => ({ ...cells }),
  restore: snapshot => ({ ...(snapshot as Cells) }),
  hash: cells => `${tallyOf(cells).count}:${tallyOf(cells).total}`,
}
