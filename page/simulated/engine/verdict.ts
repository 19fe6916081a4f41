/** What the checker says about the history up to a moment. */
import type { History } from '../../../shared/history/events.ts'
import { judge } from '../../../shared/history/judge.ts'
import type { Judgement } from '../../../shared/history/verdict.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import type { Tape } from './tape.ts'

/** `null` if the history is about another resource than the built-in one, which the page does not have. */
export function verdictAt(tape: Tape, position: number): Judgement | null {
  const { header, events } = tape.history
  if (header.resource !== keyValue.name) return null
  const recorded = position === 0 ? 0 : tape.moments[Math.min(position, tape.moments.length) - 1]!.recorded
  return judge({ header: judgedAs(header), events: events.slice(0, recorded) }, keyValue)
}

/** The checker knows what a lock without a state promises by the names of two such locks. */
const judgedAs = (header: History['header']): History['header'] =>
  header.protocol === 'redlock' ? { ...header, protocol: 'maekawa' } : header
