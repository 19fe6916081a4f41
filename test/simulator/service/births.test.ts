/**
 * How locks are born, lost and found again, on the whole service: what was wrong once, each as a run made
 * by hand.
 */
import { describe, expect, it } from 'vitest'
import type { Runtime } from '../../../worker/participant/runtime.ts'
import { EPOCH_MS } from './globals.ts'
import { type Action, configureAction, plainTransact } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'
import { runPlan } from './run.ts'
import { planOf, type Scene, transacts } from './scenes.ts'
import { bound, type Tampering } from './tampering.ts'

async function expectSound(scene: Scene, tampering: Tampering = {}) {
  const result = await runPlan(planOf(scene), tampering)
  expect(result.violation).toBeNull()
  return result
}

const kill = (id: number, at: number, site: number, forMs: number): Fault => ({
  id,
  at,
  type: 'kill',
  site,
  forMs,
})
const wipe = (id: number, at: number, site: number, forMs = 100): Fault => ({
  ...{ id, at, type: 'wipe-site', site, forMs, isPatient: false },
})

/** The processes know each other once one lock was used. */
const founding = plainTransact(900, 0, 'other')

/**
 * Two participants have a lock, one of them loses its storage, the other is away, and the third has never
 * heard of the lock.
 */
const BLANK_MAJORITY: Scene = {
  actions: [founding, ...transacts(2, 500, 1_000), ...transacts(3, 1_500, 5_000, 1_100)],
  faults: [kill(1, 600, 3, 3_900), wipe(2, 3_000, 2), kill(3, 3_050, 1, 4_000)],
  durationMs: 12_000,
}

describe('a blank majority, one of which was wiped', () => {
  it('is not taken for a birth: nothing acknowledged is lost, and no fence is given twice', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { counts } = await expectSound({ ...BLANK_MAJORITY, seed })
      expect(counts.acknowledged).toBeGreaterThan(3)
      expect(counts.rejoins).toBeGreaterThan(0)
    }
  })

  it('is taken for one by ledgers that call everybody entitled, and that is found', async () => {
    const entries: Tampering['entries'] = (real, { lock }) => {
      if (lock !== '.ledger') return real
      const peer = async (body: string): Promise<string> =>
        (await real.peer(body)).replace(/"verdict":"(lost|not-ready)"/, '"verdict":"entitled"')
      return { ...real, peer }
    }
    const rules = new Set<string | undefined>()
    for (let seed = 1; seed <= 5; seed++) {
      const { violation } = await runPlan(planOf({ ...BLANK_MAJORITY, seed }), { entries })
      rules.add(violation?.kind)
    }
    expect([...rules]).toContain('safety')
  })
})

describe('a ledger that does not answer', () => {
  it('entitles nobody: a participant that lost its storage does not vote again', async () => {
    const lost: Fault = { id: 2, at: 3_000, type: 'wipe-object', lock: 'lock', participant: 2 }
    const faults = BLANK_MAJORITY.faults!.map(fault => (fault.id === 2 ? lost : fault))
    const runtime: Tampering['runtime'] = (real, { name }) => {
      const peers: Runtime['peers'] = {
        ask: (lock, place, request, limitMs) =>
          lock === '.ledger' && real.now() > EPOCH_MS + 3_000
            ? Promise.reject(new Error('the ledger does not answer'))
            : real.peers.ask(lock, place, request, limitMs),
      }
      return name === 'p2:lock/2' ? { ...bound(real), peers } : real
    }
    for (let seed = 1; seed <= 5; seed++) await expectSound({ ...BLANK_MAJORITY, faults, seed }, { runtime })
  })
})

describe('a process that is killed while a lock is born', () => {
  it('does not leave the lock bricked, whichever process and whenever', async () => {
    for (const site of [1, 2, 3]) {
      for (let at = 1_000; at < 1_040; at += 4) {
        const faults = [kill(1, at, site, 300)]
        await expectSound({ actions: [founding, ...transacts(1, 0, 1_000)], faults, durationMs: 3_000 })
      }
    }
  })
})

describe('clocks that differ by more than half a minute', () => {
  it('do not keep a lock from being born', async () => {
    for (const clockOffsetsMs of [
      [0, 45_000, 90_000],
      [60_000, -60_000, 0],
    ]) {
      const { counts } = await expectSound({ actions: transacts(2, 500), clockOffsetsMs, durationMs: 3_000 })
      expect(counts.acknowledged).toBe(4)
    }
  })
})

describe('a silent participant', () => {
  it('delays the birth of no lock for long', async () => {
    for (const site of [1, 2, 3]) {
      const faults = [kill(1, 900, site, 9_000)]
      const scene = { actions: [founding, ...transacts(1, 0, 1_000)], faults, durationMs: 10_000 }
      const plan = planOf(scene)
      const lines: string[] = []
      const { violation } = await runPlan(plan, {}, line => lines.push(line))
      expect(violation).toBeNull()
      const at = Number.parseFloat(lines.find(line => line.includes('op-1000 on lock is applied')) ?? 'NaN')
      // Two round trips until it is noticed, two ballots, and a router that asks the next participant.
      expect(at - 1_000, `without participant ${site}`).toBeLessThan(4_000)
    }
  })
})

describe('two clients that configure one lock at once', () => {
  it('are told of one configuration, also while registrars are wiped', async () => {
    for (let at = 1_000; at < 1_030; at += 3) {
      const one = { ...configureAction(1_000, 'lock', { protocol: 'wme-1', ttlMs: 2_000 }), at: 1_000 }
      const other = { ...configureAction(2_000, 'lock', { protocol: 'wme-2', participants: 2 }), at: 1_000 }
      const faults = [wipe(1, at, 1 + (at % 3))]
      const actions = [founding, one, ...transacts(2, 500, 2_000, 1_100)]
      await expectSound({ actions, others: [[other]], faults, durationMs: 5_000 })
    }
  })
})

describe('more participants than there are processes', () => {
  it('are refused, and make no lock', async () => {
    const wish = { ...configureAction(1_000, 'lock', { participants: 4 }), at: 1_000 }
    const { counts } = await expectSound({ actions: [founding, wish], durationMs: 3_000 })
    expect(counts.configurationsRefused).toBe(1)
    expect(counts.configured).toBe(0)
  })
})

describe('processes that lose their storage one after the other', () => {
  it('lose nothing of a lock that is busy', async () => {
    const faults = [1, 2, 3].map(site => wipe(site, 3_000 * site, site))
    const { counts } = await expectSound({ actions: transacts(20, 600), faults, durationMs: 13_000 })
    expect(counts.sitesWiped).toBe(3)
    expect(counts.acknowledged).toBeGreaterThan(20)
  })

  it('lose nothing of a lock that nobody uses meanwhile', async () => {
    // Something else reaches the processes, so that they find out.
    const looks = [3_500, 6_500, 9_500].map(
      (at, index): Action => ({
        ...{ id: 950 + index, at, lock: 'other', type: 'status' },
      }),
    )
    const actions = [...transacts(3, 200), plainTransact(940, 1_000, 'other'), ...looks]
    const faults = [1, 2, 3].map(site => wipe(site, 3_000 * site, site))
    const { counts } = await expectSound({ actions, faults, durationMs: 13_000 })
    expect(counts.sitesWiped).toBe(3)
    // Both locks are of use in the end.
    expect(counts.locksAlive).toBe(2)
  })

  it('and are taken back the second time too, though the clock was set back in between', async () => {
    for (const site of [1, 2, 3]) {
      const clock: Fault = { id: 2, at: 5_000, type: 'clock', site, byMs: -3_600_000 }
      const faults = [wipe(1, 3_000, site), clock, wipe(3, 6_000, site)]
      const { counts } = await expectSound({ actions: transacts(16, 700), faults, durationMs: 13_000 })
      expect(counts.sitesWiped).toBe(2)
      expect(counts.rejoins).toBeGreaterThanOrEqual(4)
      expect(counts.locksAlive).toBe(2)
    }
  })
})

describe('a participant that loses its vote while an operation of it is on its way', () => {
  const protocols = ['wme-1', 'wme-2', 'wme-consensus'] as const
  it.each(protocols)(
    'does not call the operation not applied: the others may have it (%s)',
    async protocol => {
      for (const participant of [1, 2, 3]) {
        const operations = Array.from(
          { length: 60 },
          (_, index): Action => ({
            ...{ id: 2_000 + index, at: 2_990 + 7 * index, lock: 'lock', waitMs: 2_000, participant },
            ...{ type: 'raw-transact' },
          }),
        )
        const faults: Fault[] = [{ id: 1, at: 2_980, type: 'wipe-object', lock: '.ledger', participant }]
        // The process finds out when a new lock asks its ledger.
        const others = [operations, [plainTransact(3_000, 2_985, 'other')]]
        const scene = { protocol, actions: transacts(2, 500), others, faults, durationMs: 5_000 }
        for (let seed = 1; seed <= 8; seed++) await expectSound({ ...scene, seed })
      }
    },
  )
})
