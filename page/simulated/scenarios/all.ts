/** The prepared scenarios, in the order in which they are read. */
import { falseSuspicion } from './false-suspicion.ts'
import { maekawaDeadlock } from './maekawa-deadlock.ts'
import { memberReplaced } from './member-replaced.ts'
import { niceRun } from './nice-run.ts'
import { ownerDies } from './owner-dies.ts'
import { pausedHolderOfBaton, pausedHolderOfRedlock } from './paused-holder.ts'
import type { Scenario } from './stage.ts'
import { twoTokens } from './two-tokens.ts'

export const SCENARIOS: readonly Scenario[] = [
  niceRun,
  ownerDies,
  falseSuspicion,
  pausedHolderOfRedlock,
  pausedHolderOfBaton,
  maekawaDeadlock,
  twoTokens,
  memberReplaced,
]

export const scenarioNamed = (name: string): Scenario | undefined => SCENARIOS.find(one => one.name === name)
