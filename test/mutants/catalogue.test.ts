/** The catalogue does not rot: each mutant still has its place in the source, and each trap still has its mutant. */
import { describe, expect, it } from 'vitest'
import { mutants } from './catalogue.ts'
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

describe('the catalogue of mutants', () => {
  it('has at least 35, each with its own id', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(35)
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
    const covered = mutants.flatMap(mutant => mutant.trap.split(/[ ,]+/))
    expect(TRAPS.filter(trap => !covered.includes(trap))).toEqual([])
  })

  it('has one for each line of the table of what is durable', () => {
    const lines = mutants.filter(mutant => mutant.trap.startsWith('durable')).map(mutant => mutant.trap)
    expect(DURABLE.filter(line => !lines.some(trap => trap.includes(line)))).toEqual([])
  })
})
