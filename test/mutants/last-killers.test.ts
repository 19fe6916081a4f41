import { expect, it } from 'vitest'
import { LastKillers } from './last-killers.ts'

const THIS = 'test/mutants/last-killers.test.ts'

it('remembers the file of the test that noticed a mutant', () => {
  const killers = new LastKillers('{}')
  killers.note('a', `${THIS} > remembers > something`)
  expect(killers.of('a')).toBe(THIS)
  expect(new LastKillers(killers.toString()).of('a')).toBe(THIS)
})

it('forgets it when something else noticed the mutant, or when the file is gone', () => {
  const killers = new LastKillers(JSON.stringify({ a: THIS, b: 'test/nowhere.test.ts' }))
  killers.note('a', 'simulator, 300 seeds, N = 3')
  expect([killers.of('a'), killers.of('b'), killers.of('c')]).toEqual([undefined, undefined, undefined])
})
