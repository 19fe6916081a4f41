import { describe, expect, it } from 'vitest'
import { evaluate } from '../../bench/tables/formula.ts'

const size = { N: 5, K: 3 }

describe('a printed formula', () => {
  it.each([
    ['0', 0],
    ['2(N - 1)', 8],
    ['N² - 1', 24],
    ['N(N - 1) + 4N - 5', 35],
    ['2(N - 1)²/N', 6.4],
    ['(N - 1)(4N - 5)/N', 12],
    ['N + (N - 1)/2', 7],
    ['5(K - 1)', 10],
    ['N - 1 - 1', 3],
  ])('%s', (text, value) => {
    expect(evaluate(text, size)).toBeCloseTo(value, 12)
  })

  it.each(['', '2(N', 'M - 1', '2 * N', 'N)', '+', '(N - 1)(', 'N 2'])('not one: %s', text => {
    expect(() => evaluate(text, size)).toThrow()
  })
})
