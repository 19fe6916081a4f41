/** The register alone, exhaustively in small bounds. `npm run sim -- --birth --explore` goes further. */
import { describe, expect, it } from 'vitest'
import { explore } from './explore.ts'

describe('the register, explored', () => {
  it('ballot 0 and one that configures', () => {
    const found = explore({
      registrars: 3,
      first: 1,
      uses: [1, 3],
      configures: [2],
      timers: 0,
      crashes: 0,
      maxStates: 200_000,
    })
    expect(found).toMatchObject({ isComplete: true, choices: 2 })
  })

  it('two that configure', () => {
    const found = explore({
      registrars: 3,
      first: 1,
      uses: [],
      configures: [2, 3],
      timers: 0,
      crashes: 0,
      maxStates: 200_000,
    })
    expect(found).toMatchObject({ isComplete: true, choices: 2 })
  })
})
