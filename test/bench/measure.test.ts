/** How rounds are run: in turns, the first one not counted, each ratio to the yardstick of its own round. */
import { describe, expect, it } from 'vitest'
import { type CaseName, inTurn, lessOften, type Subject, together } from '../../bench/case.ts'
import { measure } from '../../bench/measure.ts'

/** Writes down what it did. */
function subject(name: string, done: string[], cases: readonly CaseName[], requests?: number): Subject {
  let sent = 0
  const work = (of: CaseName) => ({
    prepare: async () => done.push(`${name} prepares`),
    run: inTurn(async () => {
      done.push(`${name}: ${of}`)
      sent += requests ?? 0
    }),
    ...(requests !== undefined && { requests: async () => sent }),
  })
  return {
    name,
    participants: 3,
    processes: 'one',
    pids: () => [process.pid],
    cases: Object.fromEntries(cases.map(of => [of, work(of)])),
  }
}

describe('a measurement', () => {
  const plainCases = ['acquire and release', 'acquire, operation, release'] as const

  it('has a row for each subject and case, and one of the yardstick where it does the same', async () => {
    const plain = subject('plain', [], plainCases)
    const one = subject('one', [], ['acquire and release', 'transact'], 2)
    const rows = await measure(plain, [one], ['acquire and release', 'transact'], { rounds: 2, repeats: 3 })
    expect(rows.map(row => [row.subject, row.case, row.requestsBetweenObjects])).toEqual([
      ['plain', 'acquire and release', null],
      ['one', 'acquire and release', 2],
      ['one', 'transact', 2],
    ])
    expect(rows.map(row => row.ratio === null)).toEqual([true, false, false])
    for (const row of rows) {
      expect(row.p99).toBeGreaterThan(0)
      expect(row.milliseconds.low).toBeLessThanOrEqual(row.milliseconds.median)
      expect(row.milliseconds.median).toBeLessThanOrEqual(row.milliseconds.high!)
      expect(row.repeatedRequests).toBe(0)
    }
  })

  it('runs the yardstick before the others, which take turns in who is next', async () => {
    const done: string[] = []
    const names = ['acquire and release'] as const
    const others = ['a', 'b', 'c'].map(name => subject(name, done, names))
    await measure(subject('plain', done, names), others, names, { rounds: 3, repeats: 1 })
    const order = done.filter(line => line.includes(':')).map(line => line[0])
    expect(order.join('')).toBe('pabcpbcapcabpabc')
  })

  it('does not count the first round', async () => {
    const names = ['one operation'] as const
    const rounds: number[] = []
    let runs = 0
    let sent = 0
    const work = {
      // Only the first round sends anything.
      run: inTurn(async () => {
        if (runs++ < 5) sent++
      }),
      requests: async () => sent,
    }
    const cold: Subject = { ...subject('cold', [], []), cases: { 'one operation': work } }
    const options = { rounds: 1, repeats: 5, onRound: (round: number) => rounds.push(round) }
    const [, row] = await measure(subject('plain', [], names), [cold], names, options)
    expect(rounds).toEqual([0, 1])
    expect([runs, sent, row!.requestsBetweenObjects]).toEqual([10, 5, 0])
  })

  it('has a ratio above one for whoever is slower than the yardstick', async () => {
    const names = ['one operation'] as const
    const slow: Subject = {
      ...subject('slow', [], []),
      cases: { 'one operation': { run: inTurn(() => new Promise(resolve => setTimeout(resolve, 20))) } },
    }
    const [plain, row] = await measure(subject('plain', [], names), [slow], names, { rounds: 1, repeats: 2 })
    expect(row!.ratio!.median).toBeGreaterThan(1)
    expect(row!.perSecond).toBeLessThan(plain!.perSecond)
  })

  it('compares a `transact` with the three calls of the yardstick', async () => {
    const done: string[] = []
    const plain = subject('plain', done, plainCases)
    await measure(plain, [subject('one', done, ['transact'])], ['transact'], { rounds: 1, repeats: 1 })
    expect(done.slice(0, 4)).toEqual([
      'plain prepares',
      'plain: acquire, operation, release',
      'one prepares',
      'one: transact',
    ])
  })
})

describe('clients at once', () => {
  it('each work as often as they are told, and every time is told', async () => {
    const done: number[] = []
    const run = together(3, async client => done.push(client))
    expect(await run(2)).toHaveLength(6)
    expect(done.toSorted()).toEqual([0, 0, 1, 1, 2, 2])
    expect(await lessOften(0.2, run)(6)).toHaveLength(6)
    expect(await lessOften(0.2, run)(1)).toHaveLength(3)
  })
})
