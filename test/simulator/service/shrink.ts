/**
 * Makes a failing run smaller: faults, actions of clients and troubles of the network are left out, many at
 * a time and then one by one, as long as the same rule is broken. What is left is short enough to be read.
 */
import type { ViolationReport } from '../run.ts'
import { HEALED } from './healing.ts'
import { drawPlan, LEFT_OUT } from './plan.ts'
import { runService, type ServiceRunOptions, type ServiceRunResult } from './run.ts'

export interface ShrunkService {
  readonly without: ReadonlySet<string>
  /** Faults and actions that are still there. */
  readonly left: number
  readonly attempts: number
  readonly result: ServiceRunResult
}

const MAX_ATTEMPTS = 400

export async function shrinkService(
  seed: number,
  options: ServiceRunOptions = {},
  maxAttempts = MAX_ATTEMPTS,
): Promise<ShrunkService> {
  let without: ReadonlySet<string> = options.without ?? new Set()
  let result = await runService(seed, options)
  let attempts = 1
  const first = result.violation
  const improves = async (more: readonly string[]): Promise<boolean> => {
    if (attempts >= maxAttempts) return false
    attempts++
    const candidate = new Set([...without, ...more])
    const tried = await runService(seed, { ...options, without: candidate })
    if (!isSame(tried.violation, first)) return false
    without = candidate
    result = tried
    return true
  }
  if (first === null) return { without, left: itemsOf(seed, without).length, attempts, result }
  for (const name of LEFT_OUT) await improves([name])
  // An item that was needed at first may not be needed any more when another one is gone.
  for (let before = Number.POSITIVE_INFINITY; itemsOf(seed, without).length < before; ) {
    before = itemsOf(seed, without).length
    for (let size = Math.ceil(before / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      const items = itemsOf(seed, without)
      for (let at = 0; at < items.length; at += size) await improves(items.slice(at, at + size))
    }
  }
  return { without, left: itemsOf(seed, without).length, attempts, result }
}

/** The ids of the faults and actions that are there. */
function itemsOf(seed: number, without: ReadonlySet<string>): string[] {
  const { faults, clients } = drawPlan(seed, { without })
  return [...faults, ...clients.flatMap(({ actions }) => actions)].map(({ id }) => String(id))
}

/** Two things that were thrown are the same only if they say the same. */
function isSame(one: ViolationReport | null, other: ViolationReport | null): boolean {
  return one?.rule === other?.rule && (one?.rule !== 'thrown' || one.message === other?.message)
}

const LINES_KEPT = 120
const LINES_AFTER_HEALING = 30
const LINE_LENGTH = 240

/**
 * The end of the transcript, which is where the violation is. If something owed after the healing does not
 * come, the reason lies before it: then the lines before the healing are shown, and only the last ones after
 * it.
 */
export async function lastLines(seed: number, without: ReadonlySet<string>): Promise<string[]> {
  const before: string[] = []
  const after: string[] = []
  let isHealed = false
  await runService(seed, { without }, line => {
    const kept = isHealed ? after : before
    kept.push(line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH)}…`)
    const most = isHealed ? LINES_AFTER_HEALING : LINES_KEPT
    if (kept.length > 2 * most) kept.splice(0, most)
    if (line.includes(HEALED)) isHealed = true
  })
  return [
    ...before.slice(-LINES_KEPT),
    ...(after.length > 0 ? ['...'] : []),
    ...after.slice(-LINES_AFTER_HEALING),
  ]
}
