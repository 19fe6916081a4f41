/** What the tape keeps of a participant's view, which is only valid until the participant's next step. */
import type { Json } from '../../../shared/json.ts'
import type { View } from '../../../shared/protocols/protocol.ts'
import type { Cells } from '../../../shared/resource/resource.ts'
import type { Seat, SeatCell } from './tape.ts'

export function seatOf(id: number, condition: Seat['condition'], view: View): Seat {
  return {
    id,
    condition,
    isMember: view.membership === 'member',
    phase: view.phase,
    epoch: view.epoch,
    sequence: view.sequence,
    committed: view.committed,
    owner: view.owner,
    suspects: [...view.suspects],
    waiters: view.waiters.map(({ user }) => user),
    holders: view.holders.map(({ user, fence, expiresAt, isIssuing }) => ({
      user,
      fence,
      expiresAt,
      isIssuing,
    })),
    cells: view.cells === null ? null : cellsOf(view.cells),
  }
}

/** The built-in resource keeps a key in the cell of that name with a `=` before it. */
export function cellsOf(cells: Readonly<Cells>): SeatCell[] {
  return Object.entries(cells).map(([name, cell]) => {
    const { value, revision } = cell as { readonly value: Json; readonly revision: number }
    return { key: name.slice(1), value, revision }
  })
}

/** Keeps the earlier object if nothing is new, so that a long tape shares what does not change. */
export function sameOrNew(earlier: Seat | null, later: Seat): Seat {
  return earlier !== null && JSON.stringify(earlier) === JSON.stringify(later) ? earlier : later
}
