/**
 * What the simulator tells the judge of a participant that hears of the next lock before it hears that its
 * own was deleted (found by seed 798): one step ends the one and applies an operation of the other.
 */
import { describe, expect, it } from 'vitest'
import { END_OPERATION } from '../../shared/birth/lock-core.ts'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { configurationOf, drawScenario, type Scenario } from './scenario.ts'
import { Violation } from './violation.ts'
import { World } from './world.ts'

const LOCK = 'north'
const REGISTRARS = 3
const OWNER = firstOwnerOf(LOCK, REGISTRARS)
const [OTHER, BYSTANDER] = [1, 2, 3].filter(process => process !== OWNER) as [number, number]
const SEEDS = 20

/** A participant that gets an operation of wme-1 knows that two of three have it, and applies it at once. */
const scenarioOf = (seed: number): Scenario => ({
  ...drawScenario(seed),
  registrars: REGISTRARS,
  processes: REGISTRARS,
  hasLedger: false,
  wipes: 'none',
  defaults: Array.from({ length: REGISTRARS }, () => configurationOf('wme-1', REGISTRARS, 3_000, false)),
  locks: [LOCK],
  endings: false,
  configures: [],
})

interface Run {
  readonly world: World
  /** The operation that was applied by the step that ended the first lock, if there was one. */
  readonly opId: string | null
}

function run(seed: number): Run {
  const world = new World(scenarioOf(seed))
  world.isStormy = false
  let opId: string | null = null
  let hasEnded = false
  world.print = line => {
    if (line.includes(`${LOCK}/`)) hasEnded = false
    if (line.includes('"event":{"type":"ended"')) hasEnded = true
    if (hasEnded && line.includes('"event":{"type":"applied"')) opId = /"opId":"(\w+)"/.exec(line)![1]!
  }
  for (let process = 1; process <= REGISTRARS; process++) world.start(process)
  const owner = world.participants[OWNER]![0]!
  world.users.add(owner, 3)
  world.runUntil(world.now + 5_000)
  for (const peer of [OWNER, BYSTANDER]) {
    world.cuts.add(`${peer}-${OTHER}`)
    world.cuts.add(`${OTHER}-${peer}`)
  }
  const event = { type: 'try', user: 'operator', ttlMs: 3_000, confirm: false } as const
  world.step(owner, { type: 'user', now: world.now, event })
  const [holder] = owner.state!.core!.protocol.view(
    owner.state!.core!.context,
    owner.state!.core!.state,
  ).holders
  const { user, fence } = holder!
  const issue = { type: 'issue', user, fence, opId: 'end', operation: END_OPERATION } as const
  world.step(owner, { type: 'user', now: world.now, event: issue })
  world.runUntil(world.now + 100)
  expect(owner.state!.birth.generation).toBe(2)
  world.cuts.delete(`${OWNER}-${OTHER}`)
  world.users.add(owner, 3)
  world.runUntil(world.now + 10_000)
  return { world, opId }
}

/** With which step it hears of the end is a matter of luck. */
function runWithBoth(): { readonly world: World; readonly opId: string } {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { world, opId } = run(seed)
    if (opId !== null) return { world, opId }
  }
  throw new Error('no step has ended a lock and applied an operation of the next one')
}

const historyOf = (world: World, generation: number): HistoryEvent[] =>
  world.users.history.get(`${LOCK} ${generation}`)!

const isOfOther = (event: HistoryEvent, opId: string): boolean =>
  (event.type === 'invoke' || event.type === 'response') && event.opId === opId && event.participant === OTHER

/** Takes away what the other one recorded of this operation. */
function takeOut(world: World, opId: string): HistoryEvent[] {
  const events = historyOf(world, 2)
  const taken = events.filter(event => isOfOther(event, opId))
  world.users.history.set(
    `${LOCK} 2`,
    events.filter(event => !taken.includes(event)),
  )
  return taken
}

function rulesBrokenIn(world: World): string {
  try {
    world.checks.finish()
    return ''
  } catch (thrown) {
    if (thrown instanceof Violation) return `${thrown.rule}: ${thrown.message}`
    throw thrown
  }
}

describe('a step that ends a lock and applies an operation of the next one', () => {
  it('is recorded in the history of each', () => {
    const { world, opId } = runWithBoth()
    expect(historyOf(world, 1).filter(event => isOfOther(event, opId))).toEqual([])
    expect(historyOf(world, 2).filter(event => isOfOther(event, opId))).toHaveLength(2)
  })

  it('breaks no rule', () => {
    for (let seed = 1; seed <= SEEDS; seed++) expect(rulesBrokenIn(run(seed).world), `seed ${seed}`).toBe('')
  })

  it('may not leave the operation out', () => {
    const { world, opId } = runWithBoth()
    takeOut(world, opId)
    expect(rulesBrokenIn(world)).toContain(`1CS: ${LOCK} 2: replica ${OTHER} leaves out "${opId}"`)
  })

  it('may not apply it to the lock that is over', () => {
    const { world, opId } = runWithBoth()
    historyOf(world, 1).push(...takeOut(world, opId))
    expect(rulesBrokenIn(world)).toContain(`${LOCK} 1: `)
  })
})
