/** Mutual exclusion, the order of the fences, and no deadlock, in schedules that nobody thought of. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { run } from './schedule.ts'

const decisions = fc.array(fc.nat(2 ** 30), { minLength: 100, maxLength: 600, size: 'max' })

describe.each([
  [3, 60],
  [4, 50],
  [7, 40],
  [13, 25],
])('%i nodes', (participants, numRuns) => {
  it('exclude each other and let everybody in, with loss, duplicates, reordering and crashes', () => {
    let crits = 0
    let crashes = 0
    const kinds = new Set<string>()
    fc.assert(
      fc.property(decisions, fc.nat(2), (chosen, localHandoffs) => {
        const outcome = run({ participants, localHandoffs, decisions: chosen })
        crits += outcome.crits
        crashes += outcome.crashes
        for (const { message } of outcome.table.sent) kinds.add(message.body.type)
      }),
      // A failure is reported as it is: looking for a smaller one takes minutes.
      { numRuns, seed: participants, endOnFailure: true },
    )
    // The interesting things have happened.
    expect(crits).toBeGreaterThan(numRuns * 10)
    expect(crashes).toBeGreaterThan(numRuns * 5)
    // With three nodes, a node that is asked to relinquish is asked by itself: S_2 = {2, 3}, and 3 comes
    // before 2 only at 2.
    const betweenMany = participants === 3 ? [] : ['inquire', 'relinquish']
    const all = ['request', 'locked', 'failed', 'release', 'are-you-there', ...betweenMany]
    expect([...kinds].sort()).toEqual(all.sort())
  })
})
