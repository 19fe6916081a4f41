/**
 * Incarnations of processes, as participants know them: a process that never lost its storage is in its
 * first.
 */
import type { Incarnations } from './messages.ts'

export const incarnationIn = (known: Incarnations, participant: number): number => known[participant] ?? 1

/**
 * The higher number for each process; the same object if nothing is new. The first incarnation is not
 * written.
 */
export function raised(known: Incarnations, news: Incarnations): Incarnations {
  let result = known
  for (const [participant, incarnation] of Object.entries(news)) {
    if (incarnation <= (result[participant] ?? 1)) continue
    result = { ...result, [participant]: incarnation }
  }
  return result
}
