/**
 * Makes a run that breaks a property shorter: leaves out one step or several as long as the same property
 * still breaks. The search finds runs with few faults, but its reduction lets participants that have messages
 * read them first, whether it matters or not.
 */
import type { Bound } from './bound.ts'
import { Findings } from './findings.ts'
import type { AnyMessage } from './mail.ts'
import type { Model } from './model.ts'
import { Seats } from './seats.ts'
import { doStep, tell } from './trace.ts'
import { Worlds } from './worlds.ts'

/** Takes the steps in words, and returns them with what they send. */
export function minimise<State, Message extends AnyMessage>(
  model: Model<State, Message>,
  bound: Bound,
  steps: readonly string[],
  property: string,
): readonly string[] {
  const breaks = (attempt: readonly string[]) => breaksWith(model, bound, attempt) === property
  let best = steps
  if (breaks(best)) {
    for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < best.length; ) {
        const attempt = best.toSpliced(at, size)
        if (breaks(attempt)) best = attempt
        else at += size
      }
    }
  }
  return tell(worldsOf(model, bound, new Findings()), best)
}

/** Does these steps, leaving out what is not possible, and returns which property the last one breaks. */
function breaksWith<State, Message extends AnyMessage>(
  model: Model<State, Message>,
  bound: Bound,
  steps: readonly string[],
): string | null {
  const findings = new Findings()
  const worlds = worldsOf(model, bound, findings)
  let world = worlds.initial()
  let last = -1
  for (const [index, step] of steps.entries()) {
    const after = doStep(worlds, world, step)
    if (after === null) continue
    world = after
    checkPairs(worlds, world)
    last = index
    if (findings.violation !== null) break
  }
  return last === steps.length - 1 ? (findings.violation?.property ?? null) : null
}

const worldsOf = <State, Message extends AnyMessage>(
  model: Model<State, Message>,
  bound: Bound,
  findings: Findings,
) => new Worlds(new Seats(model, bound, findings), bound, findings)

function checkPairs({ participants, seats }: Worlds, world: Int32Array): void {
  for (let one = 0; one < participants; one++) {
    for (let other = one + 1; other < participants; other++) {
      seats.checkPair(world[one]!, world[other]!)
    }
  }
}
