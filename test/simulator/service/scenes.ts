/**
 * Plans that are made by hand: two locks, one client and one router, and nothing that goes wrong by itself.
 */
import { DEFAULT_LIMITS, type Limits, type ProtocolName } from '../../../shared/protocols/protocol.ts'
import type { Broken, Plan } from './plan.ts'
import { type Action, plainTransact } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'

export interface Scene {
  readonly kind?: 'single' | 'cluster'
  readonly sites?: number
  readonly protocol?: ProtocolName
  /** By default in the other version of the deployment; the same unless it is given. */
  readonly otherProtocol?: ProtocolName
  readonly actions: readonly Action[]
  /** Of further clients, one list each. */
  readonly others?: readonly (readonly Action[])[]
  readonly faults?: readonly Fault[]
  readonly seed?: number
  readonly limits?: Limits
  readonly broken?: readonly Broken[]
  readonly durationMs?: number
  /** By site, from 1. */
  readonly clockOffsetsMs?: readonly number[]
}

export function planOf(scene: Scene): Plan {
  const {
    kind = 'cluster',
    sites = 3,
    protocol = 'wme-2',
    actions,
    others = [],
    faults = [],
    seed = 1,
  } = scene
  const version = { protocol, location: null }
  const otherVersion = { protocol: scene.otherProtocol ?? protocol, location: null }
  const offsets = scene.clockOffsetsMs ?? new Array<number>(20).fill(0)
  return {
    ...{ seed, faults, durationMs: scene.durationMs ?? 10_000, calmMs: 0, commitMaxMs: 1 },
    ...{
      limits: scene.limits ?? DEFAULT_LIMITS,
      broken: scene.broken ?? [],
      clockOffsetsMs: [0, ...offsets],
    },
    deployment: { kind, sites, routers: 1, versions: [version, otherVersion] },
    locks: ['lock', 'other'].map(name => ({ name, kind: 'busy', wishes: [] })),
    clients: [actions, ...others].map(list => ({ router: 0, clockOffsetMs: 0, actions: list })),
    network: {
      ...{ requestLoss: 0, responseLoss: 0, duplication: 0, straggling: 0 },
      ...{ delayMinMs: 1, delayMaxMs: 2 },
    },
  }
}

/** One after the other, with time to settle in between. */
export function transacts(count: number, everyMs: number, fromMs = 0, firstId = 1_000): Action[] {
  return Array.from({ length: count }, (_, index) =>
    plainTransact(firstId + index, fromMs + everyMs * index, 'lock'),
  )
}
