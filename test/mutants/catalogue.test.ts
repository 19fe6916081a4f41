/**
 * The catalogue stays up to date: each mutant still has its place in the source, and each trap still has its
 * mutant.
 */
import { transformSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { specifiedRules } from '../readme/rules.ts'
import { mutants, type Subject, subjectOf } from './catalogue.ts'
import { mutate, readSource } from './copy.ts'

/** Rules that a small edit of the source can take away: traps, and the rules that are no mere description. */
const FAMILIES = ['A', 'B', 'C', 'D', 'G', 'K', 'P', 'Q', 'R', 'T', 'W']
/** No edit of one line makes a step wait: test/dependency-rule.test.ts finds the word itself. */
const NO_MUTANT = ['D6']

const DURABLE = [
  'REQUEST',
  'GRANTED',
  'ACK',
  'NEWEP',
  'promise',
  'accepted',
  'prepare',
  'epoch+1',
  'crit',
  'outcome',
]

/**
 * What docs/specification.md adds to the printed algorithms, and what a baseline by consensus must not do.
 */
const CORRECTIONS: readonly (readonly [Subject, readonly string[]])[] = [
  [
    'maekawa',
    [
      'K1 FAILED to every displaced waiter',
      'K2 a relinquished member counts as failed',
      'K3 deferred INQUIREs',
      'K4 stale messages',
      'K3 INQUIRE before LOCKED',
      'K5 locker and queue durable',
      'K6 retransmission',
      'K7 sets (a)',
      'K7 sets (b)',
      'fence',
      'durable: REQUEST',
      'durable: RELINQUISH',
      'durable: crit',
      'A11',
      'D2',
    ],
  ],
  [
    'ricart-agrawala',
    [
      'R1 2.2: the deferral is one step',
      'R1 2.2: REPLYs are a set',
      'R2 2.2: the highest number',
      '2.2: the decision',
      'R3 2.2: withdrawn',
      '6.1',
      '6.3',
      '6.4',
      '6.6',
      '7.1',
      'R6 7.2.1: incarnations',
      'R5 7.2.2: JOIN acknowledged by all',
      '7.2.3',
      'R7 7.3: a leaver is not inside',
      'R4 7.4: ARE_YOU_THERE',
      'R5 numbered membership',
      'fence',
      'durable: REQUEST',
      'durable: REPLY',
      'durable: JOIN',
      'D2',
    ],
  ],
  [
    'wme-consensus',
    [
      'Paxos',
      'P1 decided twice',
      'P2 applied in order',
      'P3 outcome before the decision',
      'P4 eject through the log',
      'P5 reads',
      'durable: promise',
      'durable: accepted',
      'durable: outcome',
      'durable: crit',
      'durable: REQUEST',
      'A4',
      'A7',
      'A8',
      'B2',
      'B10',
      'C5',
      'C6',
      'D2',
    ],
  ],
  [
    'birth',
    [
      'G2 F alone at ballot 0',
      'G2 promise blocks ballot 0',
      'G4 one ballot',
      'G2 accept before acting',
      'G3 parking',
      'G3 waiting for chosen at ≥ 1',
      'G9 E_g + 1',
      'G9 owner and epoch in identity',
      'G5 known choice answered',
      'G5 repeating chosen',
      'G1 lost ≠ blank',
      'G11 majority without itself',
      'G1 index before vote',
      'G11 highest index counts',
      'G8 old votes discarded',
      'G6',
      'G5 joiner has no vote',
      'G1 fresh',
      'G9 tombstone kept',
      'G9 generation in messages',
      'G9 E above the gap',
      'G10 founding',
    ],
  ],
  ['service', ['outcomes', 'numbers', 'strangers', 'environment', 'waiting', 'malformed', 'history']],
  [
    'lock-only',
    ['local queue: durable', 'local queue: TTL', 'local queue: waiting', 'local queue: inside', 'operator'],
  ],
]

const trapsOf = (subject: Subject): string[] =>
  mutants.filter(mutant => subjectOf(mutant) === subject).map(({ trap }) => trap)

describe('the catalogue of mutants', () => {
  it('has at least 35 for the first protocol, each with its own id', () => {
    expect(trapsOf('wme').length).toBeGreaterThanOrEqual(35)
    expect(new Set(mutants.map(mutant => mutant.id)).size).toBe(mutants.length)
  })

  it.each(mutants.map(mutant => [mutant.id, mutant] as const))(
    '%s has one place in the source, and leaves a program',
    (_, mutant) => {
      const source = readSource(mutant.file)
      const mutated = mutate(source, mutant)
      expect(mutated).not.toBe(source)
      // Every suite would notice one that cannot be read, and that would say nothing.
      expect(() => transformSync(mutated, { loader: 'ts' })).not.toThrow()
    },
  )

  it.each(FAMILIES)('has one for each rule %s of the specification', family => {
    const rules = specifiedRules().filter(rule => rule.startsWith(family) && !NO_MUTANT.includes(rule))
    const covered = mutants.flatMap(({ trap }) => trap.split(/[ ,]+/))
    expect(rules.length).toBeGreaterThan(3)
    expect(rules.filter(rule => !covered.includes(rule))).toEqual([])
  })

  it('has one of the first protocol for each of its traps', () => {
    const covered = trapsOf('wme').flatMap(trap => trap.split(/[ ,]+/))
    const traps = specifiedRules().filter(rule => /^[ABC]|^D[1-4]/.test(rule))
    expect(traps.filter(trap => !covered.includes(trap))).toEqual([])
  })

  it('has one for each line of the table of what is durable', () => {
    const lines = trapsOf('wme').filter(trap => /^W\d/.test(trap))
    expect(DURABLE.filter(line => !lines.some(trap => trap.includes(line)))).toEqual([])
  })

  it.each(CORRECTIONS)(
    'of %s has one for each correction of the printed algorithm, and each promise of the service',
    (subject, corrections) => {
      const covered = trapsOf(subject)
      expect(corrections.filter(correction => !covered.includes(correction))).toEqual([])
    },
  )
})
