/** A `PUT` that nobody could finish, and that was chosen later: what becomes of it must not be denied. */
import { expect, it } from 'vitest'
import { SimResponse } from './http.ts'
import { type Action, plainTransact } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'
import { runPlan } from './run.ts'
import { planOf } from './scenes.ts'
import type { Tampering } from './tampering.ts'

/**
 * Participant 1 accepts what participant 2 proposes, and is killed before anybody hears of that. It is back
 * when participant 2 has given up, and is asked in its turn while that one is gone.
 */
const actions: Action[] = [
  plainTransact(900, 0, 'other'),
  { id: 1_000, at: 1_000, lock: 'lock', type: 'put', wish: { ttlMs: 1_234 } },
]
const faults: Fault[] = [
  { id: 1, at: 1_018, type: 'one-way', site: 2, direction: 'deaf', routers: false, forMs: 400 },
  { id: 2, at: 1_018.9, type: 'kill', site: 1, forMs: 491 },
  { id: 3, at: 1_512.5, type: 'kill', site: 2, forMs: 1_000 },
]
const plan = planOf({ sites: 2, actions, faults, durationMs: 8_000 })

async function runWith(outcome: 'unknown' | 'not-applied') {
  const told: unknown[] = []
  const response: Tampering['response'] = async ({ method }, real) => {
    if (method !== 'PUT') return real
    const problem = (await real.json()) as { readonly outcome?: string }
    told.push(problem.outcome)
    return new SimResponse(JSON.stringify({ ...problem, outcome }), real)
  }
  const { violation } = await runPlan(plan, { response })
  return { told, rule: violation?.rule }
}

it('regression: who cannot be told what became of a PUT is not told that nothing did', async () => {
  expect(await runWith('unknown')).toEqual({ told: ['unknown'], rule: undefined })
})

it('a run says so if one is', async () => {
  expect(await runWith('not-applied')).toEqual({ told: ['unknown'], rule: 'outcomes' })
})
