/** What the simulator has found, each as a run that failed before it was mended. */
import { expect, it } from 'vitest'
import { DEFAULT_LIMITS, type ProtocolName } from '../../../shared/protocols/protocol.ts'
import type { Plan } from './plan.ts'
import type { Action } from './plan-actions.ts'
import { plainTransact } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'
import { runPlan } from './run.ts'

interface Scene {
  readonly kind?: 'single' | 'cluster'
  readonly sites?: number
  readonly protocol?: ProtocolName
  readonly actions: readonly Action[]
  readonly faults?: readonly Fault[]
  readonly seed?: number
  readonly durationMs?: number
}

/** One lock, one client, one router, and nothing that goes wrong by itself. */
function planOf(scene: Scene): Plan {
  const { kind = 'cluster', sites = 3, protocol = 'wme-2', actions, faults = [], seed = 1 } = scene
  const version = { protocol, location: null }
  const offsets = new Array<number>(20).fill(0)
  return {
    ...{
      seed,
      faults,
      durationMs: scene.durationMs ?? 10_000,
      calmMs: 0,
      commitMaxMs: 1,
      limits: DEFAULT_LIMITS,
      broken: [],
      clockOffsetsMs: offsets,
    },
    deployment: { kind, sites, routers: 1, versions: [version, version] },
    locks: ['lock', 'other'].map(name => ({ name, kind: 'busy', wishes: [] })),
    clients: [{ router: 0, clockOffsetMs: 0, actions }],
    network: {
      ...{ requestLoss: 0, responseLoss: 0, duplication: 0, straggling: 0 },
      ...{ delayMinMs: 1, delayMaxMs: 2 },
    },
  }
}

it('a transact whose client gives up leaves once, also where leaving takes a decision', async () => {
  const actions = Array.from({ length: 20 }, (_, index): Action => {
    const transact = plainTransact(1_000 + index, 500 * index, 'lock')
    return { ...transact, type: 'transact', abortAfterMs: 2 + index } as Action
  })
  for (let seed = 1; seed <= 4; seed++) {
    const { violation } = await runPlan(
      planOf({ seed, protocol: 'wme-consensus', actions, durationMs: 12_000 }),
    )
    expect(violation).toBeNull()
  }
})

/** One after the other, with time to settle in between. */
const transacts = (count: number, everyMs: number): Action[] =>
  Array.from({ length: count }, (_, index) => plainTransact(1_000 + index, everyMs * index, 'lock'))

it('a participant that begins anew because its process lost its ledger is recorded to be empty again', async () => {
  for (const participant of [1, 2, 3]) {
    const faults: Fault[] = [{ id: 1, at: 3_000, type: 'wipe-object', lock: '.ledger', participant }]
    // The process finds out when a new lock asks its ledger.
    const actions = [
      ...transacts(4, 1_000),
      plainTransact(1_050, 4_000, 'other'),
      ...transacts(9, 1_000).slice(5),
    ]
    const { violation, counts } = await runPlan(planOf({ actions, faults }))
    expect(violation).toBeNull()
    expect(counts.rejoins).toBeGreaterThan(0)
  }
})
