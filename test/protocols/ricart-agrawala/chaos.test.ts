/**
 * What nobody thought of. At most one writer is inside and fences grow (cluster.ts); when everything heals,
 * all are served.
 */
import { describe, expect, it } from 'vitest'
import { Chaos, type Plan } from './chaos.ts'

/** Set RUNS for a longer search: `RUNS=1000 npx vitest run test/protocols/ricart-agrawala/chaos`. */
const RUNS = Number(process.env.RUNS ?? 12)

const FAULTS = { steps: 250, loss: 0.15, duplication: 0.15, crashes: 0.04, timers: 0.1, withdrawals: 0.3 }

const PLANS: { [name: string]: Plan } = {
  'two nodes': { ...FAULTS, participants: 2 },
  'three nodes': { ...FAULTS, participants: 3 },
  'five nodes': { ...FAULTS, participants: 5 },
  'readers and writers': { ...FAULTS, participants: 3, readers: 0.6 },
  'wiped nodes': { ...FAULTS, participants: 3, wipes: 0.3 },
  'nodes that leave and return': { ...FAULTS, participants: 4, wishes: 0.03 },
  'all of it': { ...FAULTS, participants: 4, wishes: 0.02, wipes: 0.2, readers: 0.5 },
  'a ring that waits': { ...FAULTS, participants: 4, options: { ring: 'waiting' }, readers: 0.3 },
  'a ring that marks': { ...FAULTS, participants: 4, options: { ring: 'marking' }, readers: 0.3 },
  'a ring whose nodes come and go': {
    ...FAULTS,
    participants: 4,
    options: { ring: 'waiting' },
    wishes: 0.02,
    wipes: 0.2,
  },
  'the least modulus': { ...FAULTS, participants: 3, options: { modulus: 5 } },
  'random increments': { ...FAULTS, participants: 3, options: { increment: { type: 'random', most: 10 } } },
  names: { ...FAULTS, participants: 3, options: { names: [700, 20, 300] } },
}

describe('random runs', () => {
  for (const [name, plan] of Object.entries(PLANS)) {
    it(name, () => {
      let grants = 0
      for (let seed = 1; seed <= RUNS; seed++) {
        try {
          const chaos = new Chaos(plan, seed)
          chaos.run()
          grants += chaos.cluster.grants.all.length
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error })
        }
      }
      expect(grants).toBeGreaterThan(4 * RUNS)
    })
  }
})
