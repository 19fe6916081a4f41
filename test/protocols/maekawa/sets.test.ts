/** Sections 2 and 3: the sets, for every number of nodes up to 200. */
import { describe, expect, it } from 'vitest'
import { COVERS } from '../../../shared/protocols/maekawa/sets/covers.ts'
import { cyclicSets, twoScales } from '../../../shared/protocols/maekawa/sets/degenerate.ts'
import { finiteField } from '../../../shared/protocols/maekawa/sets/finite-field.ts'
import { projectivePlane } from '../../../shared/protocols/maekawa/sets/projective-plane.ts'
import { memberSets } from '../../../shared/protocols/maekawa/sets/sets.ts'
import { type MemberSets, measure, problemOf } from '../../../shared/protocols/maekawa/sets/verify.ts'
import { figure1 } from './figure-1.ts'

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1)
const PRIME_POWERS = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 25, 27, 32]

describe('a finite field', () => {
  it.each([2, 3, 4, 5, 7, 8, 9, 16, 25, 27])('of %i elements obeys the laws', order => {
    const field = finiteField(order)!
    const elements = upTo(order).map(element => element - 1)
    const isTrue = (law: boolean, name: string): void => {
      if (!law) throw new Error(name)
    }
    for (const a of elements) {
      isTrue(field.add(a, 0) === a && field.multiply(a, 1) === a, 'neutral elements')
      isTrue(field.add(a, field.negate(a)) === 0, 'negatives')
      isTrue(a === 0 || field.multiply(a, field.invert(a)) === 1, 'inverses')
      for (const b of elements) {
        const product = field.multiply(a, b)
        isTrue(field.add(a, b) === field.add(b, a) && product === field.multiply(b, a), 'commutative')
        isTrue(a === 0 || b === 0 || product !== 0, 'no divisors of zero')
        for (const c of elements.slice(0, 9)) {
          const sum = field.add(product, field.multiply(a, c))
          isTrue(field.multiply(a, field.add(b, c)) === sum, 'distributive')
          isTrue(field.multiply(product, c) === field.multiply(a, field.multiply(b, c)), 'associative')
        }
      }
    }
  })

  it('exists for powers of primes only', () => {
    const orders = upTo(32).filter(order => finiteField(order) !== null)
    expect(orders).toEqual([...PRIME_POWERS, 23, 29, 31].sort((a, b) => a - b))
  })
})

describe('Figure 1', () => {
  it.each(['a', 'b', 'c', 'd'] as const)(
    '(%s), as printed, satisfies (a)-(d), and is what is made here',
    part => {
      const printed = figure1[part]
      expect(problemOf(printed)).toBeNull()
      const size = printed[0]!.length
      expect(measure(printed)).toMatchObject({
        participants: size * (size - 1) + 1,
        smallest: size,
        largest: size,
        leastLoad: size,
        greatestLoad: size,
      })
      expect(memberSets(printed.length)).toEqual(printed)
    },
  )
})

describe('a projective plane', () => {
  it.each(PRIME_POWERS.filter(order => order <= 19))(
    'of order %i satisfies (a)-(d), and two lines meet in one point',
    order => {
      const participants = order * (order + 1) + 1
      const sets = projectivePlane(participants)!
      expect(problemOf(sets)).toBeNull()
      const size = order + 1
      expect(measure(sets)).toMatchObject({
        smallest: size,
        largest: size,
        leastLoad: size,
        greatestLoad: size,
      })
      const first = new Set(sets[0])
      for (const set of sets.slice(1)) expect(set.filter(member => first.has(member))).toHaveLength(1)
    },
  )

  it('is not made up where there is none', () => {
    expect(upTo(200).filter(participants => projectivePlane(participants) !== null)).toEqual([
      3, 7, 13, 21, 31, 57, 73, 91, 133, 183,
    ])
    // Order 6 and order 10 (K - 1 is no power of a prime).
    expect(projectivePlane(43)).toBeNull()
    expect(projectivePlane(111)).toBeNull()
  })
})

describe('the sets for every number of nodes up to 200', () => {
  it.each(upTo(200))('%i', participants => {
    const sets = memberSets(participants)
    expect(problemOf(sets)).toBeNull()
    const { smallest, largest, leastLoad, greatestLoad, bound } = measure(sets)
    // (c) and (d) hold without relaxation, and K is at most 3 above what it would be if there were a plane.
    expect(smallest).toBe(largest)
    expect(leastLoad).toBe(greatestLoad)
    expect(leastLoad).toBe(largest)
    expect(largest - bound).toBeLessThanOrEqual(3)
    expect(largest).toBeLessThanOrEqual(1.5 * Math.sqrt(participants))
  })

  it('are the same objects each time', () => {
    expect(memberSets(100)).toBe(memberSets(100))
  })

  it('are made in time for the start of a participant', () => {
    cyclicSets(199)
    const slowest = [133, 182, 183, 200].map(participants => {
      const started = performance.now()
      problemOf(projectivePlane(participants) ?? cyclicSets(participants))
      return performance.now() - started
    })
    expect(Math.min(...slowest)).toBeLessThan(20)
  })

  it('come from a cover without a superfluous step', () => {
    for (const [participants, steps] of Object.entries(COVERS)) {
      for (const step of steps) {
        const rest = steps.filter(other => other !== step)
        expect(distances(rest, Number(participants))).toBeLessThan(Number(participants))
      }
    }
  })
})

/** How many distances modulo N are differences of two of the steps. */
function distances(steps: readonly number[], participants: number): number {
  return new Set(steps.flatMap(a => steps.map(b => (a - b + participants) % participants))).size
}

describe('beyond the covers that were searched for', () => {
  it.each([...upTo(60), 201, 250, 331, 500, 999])('%i nodes have sets of about √(2N)', participants => {
    const steps = twoScales(participants)
    expect(distances(steps, participants)).toBe(participants)
    expect(steps.length).toBeLessThanOrEqual(Math.sqrt(2 * participants) + 1)
  })
})

describe('what is no system of sets is recognised', () => {
  const good: MemberSets = figure1.b
  const change = (node: number, set: number[]): MemberSets =>
    good.map((old, index) => (index + 1 === node ? set : old))
  it.each([
    ['(a)', change(4, [4, 5]), 'S_1 and S_4 have no member in common'],
    ['(b)', change(4, [1, 5, 6]), 'S_4 does not contain 4'],
    ['a member twice', change(4, [1, 4, 4]), 'S_4 is no increasing list of nodes'],
    ['a stranger', change(4, [1, 4, 8]), 'S_4 is no increasing list of nodes'],
    ['nobody', change(4, []), 'S_4 does not contain 4'],
  ])('%s', (_, sets, problem) => {
    expect(problemOf(sets)).toBe(problem)
  })
})
