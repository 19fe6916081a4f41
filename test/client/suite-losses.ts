/**
 * The heart of it: whatever the network does, no operation is applied twice, and what the client says about
 * it is true.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatonError, type Outcome } from '../../client/index.ts'
import { type Fault, FaultyNetwork } from './faults.ts'
import { type Bench, type GetBench, newLockName, type SuiteOptions } from './suite.ts'

const faultOfOperation: fc.Arbitrary<Fault | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.constant<Fault>('lose-answer') },
  { weight: 1, arbitrary: fc.constantFrom<Fault>('lose-request', 'cut-answer', { status: 502 }) },
  { weight: 3, arbitrary: fc.constantFrom<Fault>({ refuse: 'no_quorum' }, { refuse: 'too_many' }) },
)

/** What one client does, one after the other: under a grant or in one call. */
const way = fc.constantFrom('apply' as const, 'transact' as const)
const clients = fc.array(
  fc.record({
    ways: fc.array(way, { minLength: 1, maxLength: 4 }),
    faults: fc.array(faultOfOperation, { maxLength: 24 }),
  }),
  { minLength: 1, maxLength: 3 },
)
type ClientPlan = typeof clients extends fc.Arbitrary<readonly (infer Plan)[]> ? Plan : never

interface Told {
  readonly token: string
  readonly outcome: Outcome
}

export function describeLosses(bench: GetBench, { propertyRuns }: SuiteOptions): void {
  describe('losses', () => {
    it.each<[string, Fault[]]>([
      ['a lost request', ['lose-request']],
      ['a lost answer', ['lose-answer']],
      ['half an answer', ['cut-answer']],
      ['an error of something in between', [{ status: 502 }, { status: 503 }]],
      ['a refusal', [{ refuse: 'no_quorum' }, { refuse: 'too_many' }]],
      ['everything in a row', ['lose-answer', 'lose-request', { refuse: 'no_quorum' }, { status: 504 }]],
    ])('after %s an operation is repeated with its opId and applied once', async (_, faults) => {
      const { lock, network } = bench()
      network.inject('POST ops', ...faults)
      network.inject('POST transact', ...faults)
      await lock.run(async held => {
        expect(await held.apply([{ increment: 'n' }])).toMatchObject({
          applied: true,
          results: [{ value: 1 }],
        })
      })
      expect(await lock.transact([{ increment: 'n' }])).toMatchObject({
        applied: true,
        results: [{ value: 2 }],
      })
      const opIds = network.of('POST ops').map(({ body }) => (body as { opId: string }).opId)
      expect(opIds).toHaveLength(faults.length + 1)
      expect(new Set(opIds).size).toBe(1)
    })

    it('Retry-After is heeded', async () => {
      const { lock, network } = bench()
      network.inject('POST transact', { refuse: 'too_many', retryAfterSeconds: 1 })
      await lock.transact([{ increment: 'n' }])
      const [first, second] = network.of('POST transact')
      expect(second!.at - first!.at).toBeGreaterThanOrEqual(1_000)
    })

    it('whatever gets lost, nothing is applied twice and what the client says is true', async () => {
      const outcomes: Record<Outcome, number> = { applied: 0, 'not-applied': 0, unknown: 0 }
      await fc.assert(
        fc.asyncProperty(clients, async plans => {
          const name = newLockName()
          const told = (
            await Promise.all(plans.map((plan, index) => runClient(bench(), name, plan, index)))
          ).flat()
          const applied = (await bench().baton.lock(name).get<string[]>('tokens')).value ?? []
          expect(new Set(applied).size).toBe(applied.length)
          for (const { token, outcome } of told) {
            outcomes[outcome]++
            if (outcome === 'unknown') continue
            expect(applied.includes(token) ? 'applied' : 'not-applied', token).toBe(outcome)
          }
          expect(told.map(({ token }) => token)).toEqual(expect.arrayContaining([...applied]))
        }),
        { numRuns: propertyRuns },
      )
      // Enough runs must have seen everything.
      if (propertyRuns >= 100)
        expect(Math.min(...Object.values(outcomes)), JSON.stringify(outcomes)).toBeGreaterThan(0)
    })
  })
}

async function runClient(
  bench: Bench,
  name: string,
  { ways, faults }: ClientPlan,
  index: number,
): Promise<Told[]> {
  const network = new FaultyNetwork(bench.service.fetch, bench.clock)
  const rest = [...faults]
  network.plan = request => (/ops$|transact$/.test(request.path) ? rest.shift() : undefined)
  const lock = bench.client({ fetch: network.fetch, retry: { attempts: 2, firstPauseMs: 5 } }).lock(name)
  const told: Told[] = []
  for (const [step, way] of ways.entries()) {
    const token = `${index}/${step}`
    const ops = [{ append: 'tokens', value: token }] as const
    try {
      const { applied } =
        way === 'apply'
          ? await lock.run({ waitMs: 60_000 }, held => held.apply(ops))
          : await lock.transact(ops, { waitMs: 60_000 })
      told.push({ token, outcome: applied ? 'applied' : 'not-applied' })
    } catch (error) {
      if (!(error instanceof BatonError)) throw error
      told.push({ token, outcome: error.outcome! })
    }
  }
  return told
}
