/**
 * A process that lost its storage takes its locks back in the background. Each costs every participant of the
 * lock a few requests: so many at a time that the clients of a machine with much to do are still served.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { type LedgerState, ledger } from '../../shared/birth/ledger.ts'
import { DEFAULT_LEDGER_TIMING, type LedgerInput } from '../../shared/birth/ledger-types.ts'
import { configurationOf } from './scenario.ts'
import { Table } from './table.ts'

const { finishMs, finishAtOnce, finishAgainMs } = DEFAULT_LEDGER_TIMING
const LOCKS = 3 * finishAtOnce

const { ledgerContext, ledgerStorage } = Table.founded({
  ...{ registrars: 3, first: 1, hasLedger: true },
  defaults: () => configurationOf('wme-2', 3, 30_000, true),
}).seats[2]!

let state: LedgerState
/** In the order in which they were asked to come back. */
let begun: string[]
let timerMs: number | null

function step(input: LedgerInput): void {
  for (const effect of ledger.step(ledgerContext, state, input)) {
    if (effect.type === 'finish') begun.push(effect.lock)
    if (effect.type === 'set-timer' && effect.timer === 'finish') timerMs = effect.afterMs
  }
}

/** Lets the time pass until the timer fires; returns how long that was. */
function wait(): number | null {
  const afterMs = timerMs
  timerMs = null
  if (afterMs !== null) step({ type: 'timer', timer: 'finish' })
  return afterMs
}

const finished = (lock: string, incarnation = 1) =>
  step({ type: 'finished', lock, generation: 1, incarnation })

beforeEach(() => {
  begun = []
  timerMs = null
  const lost = Array.from({ length: LOCKS }, (_, index) => [
    `lock/${index}`,
    { voted: 1, token: 't', lost: 1 },
  ])
  state = ledger.recover(ledgerContext, [...ledgerStorage, ...(lost as [string, never][])])
  step({ type: 'start', random: 'r' })
})

describe('what was lost is finished', () => {
  it('a few locks at a time: the next one begins when one of them is done', () => {
    for (let count = 1; count <= finishAtOnce; count++) expect(wait()).toBe(finishMs)
    expect(begun).toHaveLength(finishAtOnce)
    expect(timerMs).toBe(finishAgainMs)
    for (let next = finishAtOnce; next < LOCKS; next++) {
      finished(begun[next - finishAtOnce]!)
      expect(wait()).toBe(finishMs)
      expect(begun).toHaveLength(next + 1)
    }
    for (const lock of begun.slice(-finishAtOnce)) finished(lock)
    expect(new Set(begun).size).toBe(LOCKS)
    expect(wait()).toBe(finishAgainMs)
    expect(timerMs).toBeNull()
    expect(ledger.health(state).unfinishedLocks).toBe(0)
  })

  it('though some never are: they hold up the others for a while, and are tried again', () => {
    const stuck = new Set(['0', '1', '2', '3', '4', '5', '6', '7'])
    for (let rounds = 0; rounds < 200; rounds++) {
      wait()
      const last = begun.at(-1)!
      if (!stuck.has(last)) finished(last)
    }
    expect(ledger.health(state).unfinishedLocks).toBe(stuck.size)
    for (const lock of stuck) expect(begun.filter(name => name === lock).length).toBeGreaterThan(2)
    for (const lock of stuck) finished(lock)
    for (let rounds = 0; rounds < 3; rounds++) wait()
    expect(timerMs).toBeNull()
  })

  it('one that is lost meanwhile waits for its turn', () => {
    for (let count = 1; count <= finishAtOnce; count++) wait()
    const question = { lock: 'alone', generation: 1, token: 'other', incarnation: 1 }
    state.entries.set('alone', { voted: 1, token: 't', lost: 0 })
    timerMs = null
    step({ type: 'ask', question })
    expect(timerMs).toBeNull()
    finished(begun[0]!)
    expect(timerMs).toBe(finishMs)
  })

  it('regression: not by a participant that was taken back in an earlier life of the process', () => {
    Object.assign(state.record!, { incarnation: 2 })
    wait()
    finished(begun[0]!, 1)
    expect(ledger.health(state).unfinishedLocks).toBe(LOCKS)
    finished(begun[0]!, 2)
    expect(ledger.health(state).unfinishedLocks).toBe(LOCKS - 1)
  })
})
