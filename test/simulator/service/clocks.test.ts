/** Machines whose clocks are set: forward by an hour, and back again. */
import { describe, expect, it } from 'vitest'
import { PROTOCOL_NAMES } from '../../../shared/protocols/all.ts'
import type { ProtocolName } from '../../../shared/protocols/protocol.ts'
import type { Action } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'
import { runPlan } from './run.ts'
import { planOf, transacts } from './scenes.ts'

const AN_HOUR_MS = 3_600_000
const SITES = [1, 2, 3]

const clock = (id: number, at: number, site: number, byMs: number): Fault => ({
  ...{ id, at, type: 'clock', site, byMs },
})

/** Ahead from 2 s to 4 s of the run. */
const aheadForAWhile = (site: number): Fault[] => [
  clock(1, 2_000, site, AN_HOUR_MS),
  clock(2, 4_000, site, -AN_HOUR_MS),
]

const hold = (id: number, at: number, participant: number, ending: 'release' | 'vanish'): Action => ({
  ...{ id, at, lock: 'lock', type: 'hold', waitMs: 900, ttlMs: 1_500, confirm: false, mode: 'exclusive' },
  ...{ operations: 0, thinkMs: 1, ending, abortAfterMs: null, participant },
})

async function expectSound(protocol: ProtocolName, faults: readonly Fault[], others: readonly Action[][]) {
  const scene = { protocol, faults, others, actions: transacts(16, 500) }
  const { violation, counts } = await runPlan(planOf(scene))
  expect(violation).toBeNull()
  expect(counts.locksAlive).toBe(2)
  return counts
}

describe.each(PROTOCOL_NAMES)('%s: a clock that was an hour ahead and is set back', protocol => {
  it('holds up nobody: the participant begins anew with the right time', async () => {
    for (const site of SITES) {
      const holds = Array.from({ length: 16 }, (_, index) =>
        hold(2_000 + index, 500 * index, site, 'release'),
      )
      const counts = await expectSound(protocol, aheadForAWhile(site), [holds])
      expect(counts.aborts).toBeGreaterThan(0)
    }
  })

  it('does not make a grant last for an hour whose client has vanished meanwhile', async () => {
    for (const participant of SITES) {
      const others = [[hold(2_000, 3_000, participant, 'vanish')]]
      await expectSound(protocol, aheadForAWhile(participant), others)
    }
  })

  it('does not make the grant of a session last for an hour whose client stands still', async () => {
    for (const participant of SITES) {
      const deaf: Action = {
        ...{ id: 2_000, at: 3_000, lock: 'lock', type: 'session', calls: 0, participant, operations: 0 },
        ...{ waitMs: 900, ttlMs: 1_500, thinkMs: 1, ending: 'deaf' },
      }
      const evict: Fault = { id: 3, at: 3_995, type: 'evict', lock: 'lock', participant }
      await expectSound(protocol, [...aheadForAWhile(participant), evict], [[deaf]])
    }
  })
})
