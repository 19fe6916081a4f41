/**
 * Changes of the members in protocols without epochs: what must hold of one participant, and what a search
 * with newcomers must have reached. (For wme all of it is in the invariants and the coverage goals.)
 */
import type { Effect } from '../../shared/protocols/protocol.ts'
import type { Findings } from './findings.ts'

export const MEMBER_COVERAGE_GOALS = [
  'a newcomer became a member',
  'a member removed',
  'an operator told that the members have changed',
] as const

/** Called for each step, with what it makes of a participant. */
export function checkMembership(
  findings: Findings,
  was: string,
  is: string,
  effects: readonly Effect<unknown>[],
): void {
  if (was === 'removed' && is !== 'removed')
    findings.violate('whoever is removed stays removed (M5, R13)', `it is ${is}`)
  if (was === 'joining' && is === 'member') findings.reach('a newcomer became a member')
  if (was !== 'removed' && is === 'removed') findings.reach('a member removed')
  for (const effect of effects) {
    if (effect.type === 'emit' && effect.event.type === 'members-changed')
      findings.reach('an operator told that the members have changed')
  }
}
