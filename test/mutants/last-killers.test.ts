import { expect, it } from 'vitest'
import { LastKillers } from './last-killers.ts'

const THIS = 'test/mutants/last-killers.test.ts'
const SIMULATOR = 'simulator, 300 seeds, N = 3'

it('remembers the file of the test that noticed a mutant', () => {
  const killers = new LastKillers('{}')
  killers.note('a', 'suites', `${THIS} > remembers > something`)
  expect([killers.fileOf('a'), killers.killerOf('a')]).toEqual([THIS, undefined])
  expect(new LastKillers(killers.toString()).fileOf('a')).toBe(THIS)
})

it('remembers the simulator that did', () => {
  const killers = new LastKillers(JSON.stringify({ a: THIS }))
  killers.note('a', SIMULATOR, SIMULATOR)
  expect([killers.fileOf('a'), killers.killerOf('a')]).toEqual([undefined, SIMULATOR])
})

it('knows nothing of others, or of a file that is gone', () => {
  const killers = new LastKillers(JSON.stringify({ b: 'test/nowhere.test.ts' }))
  for (const id of ['b', 'c'])
    expect([killers.fileOf(id), killers.killerOf(id)]).toEqual([undefined, undefined])
})
