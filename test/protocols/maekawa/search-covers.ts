/**
 * Looks for smaller covers of the circle than those of covers.ts: `node
 * test/protocols/maekawa/search-covers.ts [seconds for each N] [first N] [last N]` prints a line for each
 * that it finds. It uses simulated annealing: it exchanges one step at a time for another, and tries to bring
 * the number of distances that are not a difference of two steps down to 0.
 */
import { COVERS } from '../../../shared/protocols/maekawa/sets/covers.ts'

/**
 * Steps such that every distance modulo N is a difference of two of them, or `null`. `random` gives numbers
 * below its argument.
 */
export function searchCover(
  participants: number,
  size: number,
  attempts: number,
  random: (below: number) => number,
): number[] | null {
  const steps: number[] = []
  while (steps.length < size) {
    const step = random(participants)
    if (!steps.includes(step)) steps.push(step)
  }
  const times = new Int32Array(participants)
  let missing = participants - 1
  const distance = (a: number, b: number): number => (a - b + participants) % participants
  /** Counts the differences of one step with all others, `by` 1 or -1 times. */
  const count = (place: number, step: number, by: 1 | -1): void => {
    for (const [other, at] of steps.entries()) {
      if (other === place) continue
      for (const between of [distance(step, at), distance(at, step)]) {
        const before = times[between]!
        times[between] = before + by
        if (before === 0) missing--
        else if (before + by === 0) missing++
      }
    }
  }
  for (const [a, from] of steps.entries())
    for (const [b, to] of steps.entries()) if (a !== b && times[distance(from, to)]!++ === 0) missing--
  for (let attempt = 0; attempt < attempts && missing > 0; attempt++) {
    const heat = 1.2 * (1 - attempt / attempts) + 0.12
    const place = random(size)
    const [old, step, before] = [steps[place]!, random(participants), missing]
    if (steps.includes(step)) continue
    count(place, old, -1)
    count(place, step, 1)
    if (missing <= before || random(2 ** 20) < 2 ** 20 * Math.exp((before - missing) / heat))
      steps[place] = step
    else {
      count(place, step, -1)
      count(place, old, 1)
    }
  }
  return missing === 0 ? smallestTurn(steps, participants) : null
}

/** The circle may be turned: the first step is 0, and the others are as small as possible. */
function smallestTurn(steps: readonly number[], participants: number): number[] {
  const turns = steps.map(origin =>
    steps.map(step => (step - origin + participants) % participants).sort((a, b) => a - b),
  )
  return turns.reduce((best, turn) => {
    const at = turn.findIndex((step, index) => step !== best[index])
    return at !== -1 && turn[at]! < best[at]! ? turn : best
  })
}

/** A small generator: the same numbers in every run. */
export function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(((state >>> 4) / 2 ** 28) * below)
  }
}

if (process.argv[1] === import.meta.filename) {
  const [seconds = 10, first = 2, last = 200] = process.argv.slice(2).map(Number)
  for (let participants = first; participants <= last; participants++) {
    const size = (COVERS[participants]?.length ?? 0) - 1
    if (size * (size - 1) + 1 < participants) continue
    const random = numbers(participants)
    const end = performance.now() + 1000 * seconds
    let found: number[] | null = null
    while (found === null && performance.now() < end) found = searchCover(participants, size, 400_000, random)
    if (found !== null) console.log(`  ${participants}: [${found.join(', ')}],`)
  }
}
