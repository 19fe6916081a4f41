/**
 * One row of the table: what is measured, what the paper says, what this code does, and why it is worse if it
 * is.
 */
import { DEFAULT_TIMING } from '../../shared/protocols/protocol.ts'
import type { SCENARIOS } from './scenarios.ts'
import type { VariantName } from './subjects.ts'

export type Metric = 'steps' | 'applied' | 'before' | 'messages'
export type ScenarioName = keyof typeof SCENARIOS
export type NoteName = keyof typeof NOTES

export interface Row {
  readonly variant: VariantName
  readonly what: string
  readonly scenario: ScenarioName
  readonly metric: Metric
  readonly requester: number
  /** A formula, or the least and the most. */
  readonly paper: string | readonly [string, string]
  /** What is measured is exactly this; `null` if it depends on more than N and K. */
  readonly ours: string | null
  /** With three participants, if that differs. */
  readonly oursOfThree?: string
  /** Why it is worse than the paper's. */
  readonly note?: NoteName
  /** K is the mean size of all sets, not that of the requester's. */
  readonly isOfAll?: true
}

const { confirmMs, flushMs } = DEFAULT_TIMING

export const NOTES = {
  confirmed: `Nobody waits for these messages. A grant is an entry of the log. Everybody acknowledges it to the new owner, which so
learns that a majority holds it: only then are local reads and effects outside of the lock safe. Everybody also
acknowledges it to the participant that gave it, which repeats it until then. That makes 2(N - 2) + 1 messages. The
paper confirms no grant, and its channels lose nothing. (A re-entry is confirmed only if its user stays inside for
longer than \`confirmMs\` = ${confirmMs} ms, or asks for it, with 2(N - 1) messages; these runs have no such user.)`,
  flushed: `A DOINVOKE waits up to \`flushMs\` = ${flushMs} ms for the next entry to ride on. This saves N - 1 messages for each operation
but the last. The user is told without waiting for it, one step earlier than in the paper.`,
} as const

export const row = (
  variant: VariantName,
  what: string,
  scenario: ScenarioName,
  metric: Metric,
  paper: Row['paper'],
  ours: string | null,
  more: Partial<Row> = {},
): Row => ({ variant, what, scenario, metric, requester: 2, paper, ours, ...more })
