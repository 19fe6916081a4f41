/**
 * The catalogue stays up to date: each mutant still has its place in the source, and each trap still has its
 * mutant.
 */
import { describe, expect, it } from 'vitest'
import { mutants, type Subject, subjectOf } from './catalogue.ts'
import { mutate, readSource } from './copy.ts'

const range = (letter: string, last: number): string[] =>
  Array.from({ length: last }, (_, index) => `${letter}${index + 1}`)

/** B6 does not exist: the list of traps skips it. */
const TRAPS = [
  ...range('A', 13),
  ...range('B', 11).filter(trap => trap !== 'B6'),
  ...range('C', 9),
  ...range('D', 4),
]

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
 * What protocol.md adds to the printed algorithms (sections 5 and 6), and what a baseline by consensus must
 * not do.
 */
const CORRECTIONS: readonly (readonly [Subject, readonly string[]])[] = [
  [
    'maekawa',
    [
      'FAILED to every displaced waiter',
      'a relinquished member counts as failed',
      'deferred INQUIREs',
      'stale messages',
      'INQUIRE before LOCKED',
      'locker and queue durable',
      'retransmission',
      'sets (a)',
      'sets (b)',
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
      '2.2: the deferral is one step',
      '2.2: REPLYs are a set',
      '2.2: the highest number',
      '2.2: the decision',
      '2.2: withdrawn',
      '6.1',
      '6.3',
      '6.4',
      '6.6',
      '7.1',
      '7.2.1: incarnations',
      '7.2.2: JOIN acknowledged by all',
      '7.2.3',
      '7.3: a leaver is not inside',
      '7.4: ARE_YOU_THERE',
      'numbered membership',
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
      'decided twice',
      'applied in order',
      'outcome before the decision',
      'eject through the log',
      'reads',
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
      'F alone at ballot 0',
      'promise blocks ballot 0',
      'one ballot',
      'accept before acting',
      'parking',
      'waiting for chosen at ≥ 1',
      'E_g + 1',
      'owner and epoch in identity',
      'known choice answered',
      'repeating chosen',
      'lost ≠ blank',
      'majority without itself',
      'index before vote',
      'highest index counts',
      'old votes discarded',
      'rule 6',
      'joiner has no vote',
      'fresh',
      'tombstone kept',
      'generation in messages',
      'E above the gap',
      'founding',
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
    '%s has one place in the source',
    (_, mutant) => {
      const source = readSource(mutant.file)
      expect(mutate(source, mutant)).not.toBe(source)
    },
  )

  it('has one for each trap', () => {
    const covered = trapsOf('wme').flatMap(trap => trap.split(/[ ,]+/))
    expect(TRAPS.filter(trap => !covered.includes(trap))).toEqual([])
  })

  it('has one for each rule of the failure detector', () => {
    const covered = mutants.map(({ trap }) => trap)
    expect(range('T', 5).filter(rule => !covered.includes(rule))).toEqual([])
  })

  it('has one for each line of the table of what is durable', () => {
    const lines = trapsOf('wme').filter(trap => trap.startsWith('durable'))
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
