/**
 * What a cycle costs at Cloudflare's published prices, which docs/deploy.md and its test use too. It counts
 * requests, rows written and the time in memory. It does not count alarms, rows read, and bringing a
 * participant back into memory: they do not depend on the protocol's messages, and docs/deploy.md counts them
 * on the runtime.
 */
import { fullPrice, usageOfMillion } from '../prices.ts'
import type { ScenarioName } from './row.ts'
import { guardsState, SIZES, type VariantName } from './subjects.ts'
import type { Measurements } from './table.ts'

/** Half of the round trip to the farthest participant that docs/deploy.md assumes. */
const SECONDS_PER_DELAY = 0.125

export interface Cycle {
  readonly title: string
  readonly variant: VariantName
  readonly scenario: ScenarioName
  readonly requester: number
}

export interface CycleCost {
  readonly participants: number
  readonly delays: number
  readonly messages: number
  readonly requests: number
  readonly rows: number
  /** Dollars for a million cycles, as if nothing were included. */
  readonly dollars: number
}

export interface MeasuredCycle extends Cycle {
  readonly costs: readonly CycleCost[]
}

const cycle = (
  title: string,
  variant: VariantName,
  scenario: ScenarioName = 'cyclesInARow',
  requester = 2,
): Cycle => ({ title, variant, scenario, requester })

export const CYCLES: readonly Cycle[] = [
  cycle('wme-1, where it was last used', 'wme-1'),
  cycle('wme-1, elsewhere each time', 'wme-1', 'cycleElsewhere'),
  cycle('wme-2, where it was last used, in a row', 'majority first'),
  cycle('wme-2, where it was last used, now and then', 'majority first', 'cycleAlone'),
  cycle('wme-2, elsewhere each time', 'majority first', 'cycleElsewhere'),
  cycle('wme-consensus, latency-optimal', 'latency-optimal'),
  cycle('wme-consensus, latency-optimal, at the coordinator', 'latency-optimal', 'cyclesInARow', 1),
  cycle('wme-consensus, message-optimal', 'message-optimal'),
  cycle('wme-consensus, message-optimal, at the coordinator', 'message-optimal', 'cyclesInARow', 1),
  cycle('ricart-agrawala', 'ricart-agrawala'),
  cycle('ricart-agrawala, implicitReply', 'implicitReply'),
  cycle('ricart-agrawala, ring', 'ring: waiting'),
  cycle('maekawa', 'maekawa'),
]

export function measureCycles(measurements: Measurements, sizes: readonly number[] = SIZES): MeasuredCycle[] {
  return CYCLES.map(measured => ({
    ...measured,
    costs: sizes.map(participants => costOf(measurements, measured, participants)),
  }))
}

function costOf(
  measurements: Measurements,
  { variant, scenario, requester }: Cycle,
  participants: number,
): CycleCost {
  const { steps, messages, requests, rows } = measurements.of(variant, scenario, participants, requester)
  // One `transact`; if there is nothing to operate on, one `acquire` and one release.
  const calls = guardsState(variant) ? 1 : 2
  const usage = usageOfMillion({
    router: calls,
    calls,
    peers: requests.value,
    alarms: 0,
    rowsWritten: rows.value,
    alarmsSet: 0,
    rowsRead: 0,
    seconds: steps.value * SECONDS_PER_DELAY,
  })
  return {
    participants,
    delays: steps.value,
    messages: messages.value,
    requests: requests.value,
    rows: rows.value,
    dollars: fullPrice(usage),
  }
}
