/**
 * Some seeds of every size, with all faults: none breaks a rule, and together they have seen everything there
 * is to see.
 */
import { describe, expect, it } from 'vitest'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { PROTOCOLS } from './command-line.ts'
import { addCounts, zeroCounts } from './counts.ts'
import { EXPECTATIONS, missing, RUNS_THAT_COUNT } from './expectations.ts'
import { FAULTS } from './faults.ts'
import { OPTIONS } from './fixtures.ts'
import { runSeed } from './run.ts'

type Sizes = readonly (readonly [participants: number, seeds: number])[]

const WME_SIZES: Sizes = [
  [1, 5],
  [2, 10],
  [3, 30],
  [4, 10],
  [5, 10],
  [7, 3],
  [13, 1],
]

const CONSENSUS_SIZES: Sizes = [
  [1, 3],
  [2, 5],
  [3, 30],
  [4, 5],
  [5, 5],
]

/** Many seeds, for many variants. */
const LOCK_ONLY_SIZES: Sizes = [
  [1, 5],
  [2, 10],
  [3, 40],
  [4, 15],
  [5, 10],
  [7, 5],
  [13, 1],
]

const SIZES: { readonly [protocol in ProtocolName]: Sizes } = {
  'wme-1': WME_SIZES,
  'wme-2': WME_SIZES,
  'wme-consensus': CONSENSUS_SIZES,
  'ricart-agrawala': LOCK_ONLY_SIZES,
  maekawa: LOCK_ONLY_SIZES,
}

describe('no seed breaks a rule', () => {
  for (const protocol of PROTOCOLS) {
    const counts = zeroCounts()
    for (const [participants, seeds] of SIZES[protocol]) {
      it(`${protocol} with ${participants} participants`, () => {
        for (let seed = 1; seed <= seeds; seed++) {
          const result = runSeed({ ...OPTIONS, protocol, participants }, seed)
          expect(result.violation, `seed ${seed}`).toBeNull()
          expect(result.steps).toBeGreaterThan(0)
          addCounts(counts, result.counts)
        }
      })
    }

    it(`${protocol}: everything happened`, () => {
      expect(missing(counts, RUNS_THAT_COUNT, { protocol, participants: 13, faults: FAULTS })).toEqual([])
    })
  }

  it('without faults nobody is ejected and nothing is lost', () => {
    for (const protocol of PROTOCOLS) {
      for (let seed = 1; seed <= 5; seed++) {
        const { violation, counts } = runSeed({ ...OPTIONS, protocol, faults: [] }, seed)
        expect(violation).toBeNull()
        expect(counts.ejections + counts.losses + counts.crashes + counts.epochs).toBe(0)
        expect(counts.grants).toBeGreaterThan(0)
      }
    }
  })
})

describe('what must have happened', () => {
  it('is asked for only with enough runs, enough participants and the fault on', () => {
    const counts = zeroCounts()
    const batch = { protocol: 'wme-1', participants: 5, faults: FAULTS } as const
    const ofWme1 = EXPECTATIONS.filter(({ protocols }) => protocols.includes('wme-1'))
    const all = ofWme1.filter(({ isOfChanges }) => !isOfChanges).map(({ count }) => count)
    expect(missing(counts, RUNS_THAT_COUNT - 1, batch)).toEqual([])
    expect(missing(counts, RUNS_THAT_COUNT, batch)).toEqual(all)
    expect(missing(counts, RUNS_THAT_COUNT, { ...batch, participants: 2 })).not.toContain('epochs')
    const changing = missing(counts, RUNS_THAT_COUNT, { ...batch, members: true })
    expect(changing).toContain('tombstones')
    expect(changing).toHaveLength(ofWme1.length - 1)
    const lossy = { ...batch, faults: ['loss'] } as const
    expect(missing(counts, RUNS_THAT_COUNT, lossy)).not.toContain('duplicates')
    expect(missing(counts, RUNS_THAT_COUNT, lossy)).toContain('losses')
    expect(missing({ ...counts, losses: 1 }, RUNS_THAT_COUNT, lossy)).not.toContain('losses')
    const lockOnly = missing(counts, RUNS_THAT_COUNT, { ...batch, protocol: 'maekawa' })
    expect(lockOnly).toContain('mischief')
    expect(lockOnly).not.toContain('operations')
    expect(lockOnly).not.toContain('readersTogether')
  })
})
