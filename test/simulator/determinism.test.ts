/** The same seed and options give the same run; otherwise no violation could be looked at twice. */
import { describe, expect, it } from 'vitest'
import { PROTOCOLS } from './command-line.ts'
import { EventQueue, type Scheduled } from './event-queue.ts'
import { OPTIONS } from './fixtures.ts'
import { Random } from './random.ts'
import { runSeed } from './run.ts'

describe('a run', () => {
  it('is the same for the same seed, with and without a transcript', () => {
    const all = PROTOCOLS.flatMap(protocol =>
      [1, 2, 32].map(seed => [{ ...OPTIONS, protocol }, seed] as const),
    )
    for (const [options, seed] of all) {
      const first = runSeed(options, seed)
      const second = runSeed(options, seed)
      const lines: string[] = []
      const printed = runSeed(options, seed, line => lines.push(line))
      expect(JSON.stringify(second)).toBe(JSON.stringify(first))
      expect(printed.transcriptHash).toBe(first.transcriptHash)
      expect(lines.length).toBeGreaterThan(first.steps)
    }
  })

  it('is another one for another seed, protocol, number of participants or fault', () => {
    const others = [
      runSeed(OPTIONS, 1),
      runSeed(OPTIONS, 2),
      ...PROTOCOLS.filter(name => name !== OPTIONS.protocol).map(protocol =>
        runSeed({ ...OPTIONS, protocol }, 1),
      ),
      runSeed({ ...OPTIONS, protocol: 'ricart-agrawala' }, 3),
      runSeed({ ...OPTIONS, protocol: 'ricart-agrawala', plain: true }, 3),
      runSeed({ ...OPTIONS, participants: 4 }, 1),
      runSeed({ ...OPTIONS, faults: [] }, 1),
    ]
    expect(new Set(others.map(run => run.transcriptHash)).size).toBe(others.length)
  })

  it('is a prefix of a longer one, as far as the phase with faults goes', () => {
    const at = 1_500
    const upTo = (durationMs: number) =>
      runSeed({ ...OPTIONS, durationMs }, 3).history.events.filter(event => event.at < at)
    expect(JSON.stringify(upTo(at))).toBe(JSON.stringify(upTo(2 * at)))
  })
})

describe('chance', () => {
  it('has streams that differ and stays within its limits', () => {
    const drawn = [new Random(1, 1), new Random(1, 2), new Random(2, 1)].map(random => random.next())
    expect(new Set(drawn).size).toBe(3)
    const random = new Random(7, 7)
    const seen = new Set<number>()
    for (let draw = 0; draw < 1_000; draw++) {
      seen.add(random.between(3, 5))
      const fraction = random.fraction()
      expect(fraction >= 0 && fraction < 1).toBe(true)
      const level = random.logUniform(1, 100)
      expect(level >= 1 && level <= 100).toBe(true)
    }
    expect([...seen].sort()).toEqual([3, 4, 5])
    expect(random.chance(0)).toBe(false)
    expect(random.shuffled([1, 2, 3]).sort()).toEqual([1, 2, 3])
  })
})

describe('the queue', () => {
  it('gives events by time, and at the same time by order', () => {
    const queue = new EventQueue<Scheduled<'event', null>>()
    const random = new Random(1, 1)
    const pushed: [at: number, order: number][] = []
    for (let order = 0; order < 500; order++) {
      const at = random.below(50)
      pushed.push([at, order])
      queue.push({ at, order, kind: 'event', target: 0, source: 0, payload: null })
    }
    pushed.sort(([at, order], [otherAt, otherOrder]) => at - otherAt || order - otherOrder)
    const popped: [number, number][] = []
    for (let event = queue.pop(); event !== undefined; event = queue.pop())
      popped.push([event.at, event.order])
    expect(popped).toEqual(pushed)
    expect(queue.length).toBe(0)
  })
})
