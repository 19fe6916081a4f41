/** What can be done at a moment of a tape, for the buttons of the page. The host decides in the end. */
import type { PlaceAction } from './actions.ts'
import { sectionsOf } from './sections.ts'
import { canChangeMembers, type SimulatedProtocol } from './setup.ts'
import type { Seat, Tape } from './tape.ts'

export function possibleAt(tape: Tape, position: number, seat: Seat): ReadonlySet<PlaceAction> {
  const { condition, id } = seat
  const isUp = condition === 'up' || condition === 'paused'
  const inside = sectionsOf(tape, position).some(({ to, participant }) => to === null && participant === id)
  const isIssuing = seat.holders.some(holder => holder.isIssuing)
  const possible: PlaceAction[] = ['visit', 'stay', 'commute']
  if (isUp) possible.push('kill', 'wipe')
  if (condition === 'down') possible.push('restart')
  if (condition === 'up') possible.push('pause')
  if (condition === 'paused') possible.push('resume')
  if (inside && !isIssuing) possible.push('leave')
  if (inside && !isIssuing && tape.guardsState) possible.push('operate')
  if (tape.protocol !== 'redlock' && condition === 'up') possible.push('eject')
  return new Set(possible)
}

export const mayChangeMembers = (tape: Tape): boolean => canChangeMembers(tape.protocol as SimulatedProtocol)
