/** The register alone, exhaustively in small bounds. */
import { describe, expect, it } from 'vitest'
import { type Bounds, explore } from './explore.ts'

const BOUNDS: Bounds = {
  registrars: 3,
  first: 1,
  uses: [],
  configures: [],
  timers: 0,
  crashes: 0,
  maxStates: 200_000,
}

describe('the register, explored', () => {
  it.each([
    ['the first owner begins, and another one configures', { uses: [1], configures: [2] }],
    ['one asks the first owner, and another one configures', { uses: [3], configures: [2] }],
    ['two configure', { configures: [2, 3] }],
  ])('%s: one choice, whatever comes first', (_, bounds) => {
    const found = explore({ ...BOUNDS, ...bounds })
    expect(found.isComplete).toBe(true)
    expect(found.choices).toBeGreaterThan(1)
  })

  it.each([
    ['the first owner begins', { uses: [1] }],
    ['one asks the first owner', { uses: [3] }],
  ])('%s, and another one wants a strict lock: none beside a weak one (G13)', (_, bounds) => {
    const found = explore({ ...BOUNDS, ...bounds, configures: [2], protocol: 'maekawa' })
    expect(found.isComplete).toBe(true)
    expect(found.choices).toBeGreaterThan(1)
  })
})
