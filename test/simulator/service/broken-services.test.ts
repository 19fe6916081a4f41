/** Whatever is wrong with the service, or with what it relies on, a run says so. */

import { describe, expect, it } from 'vitest'
import { joinLines, linesOf } from '../../../worker/participant/core/lines.ts'
import type { Runtime } from '../../../worker/participant/runtime.ts'
import { SimRequest, SimResponse } from './http.ts'
import type { PlanOptions } from './plan.ts'
import { type Action, plainTransact } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'
import { runPlan, runService } from './run.ts'
import { planOf, type Scene, transacts } from './scenes.ts'
import { shrinkService } from './shrink.ts'
import { bound, type Tampering } from './tampering.ts'

const SEEDS = 60

/** The rules that the first seeds break; as many as it takes to see one of those that are expected. */
async function ruleBroken(
  tampering: Tampering,
  expected: RegExp,
  options: PlanOptions = {},
): Promise<string> {
  const others: string[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violation } = await runService(seed, { calmBirths: true, ...options, tampering })
    if (violation === null) continue
    const rule = `${violation.kind} ${violation.rule}`
    if (expected.test(rule)) return rule
    others.push(rule)
  }
  return `not found, but ${others.join(', ')}`
}

async function expectBroken(
  tampering: Tampering,
  expected: RegExp,
  options: PlanOptions = {},
): Promise<void> {
  expect(await ruleBroken(tampering, expected, options)).toMatch(expected)
}

/** The runtime with its rows changed. */
const withRows =
  (change: (rows: Runtime['rows']) => Partial<Runtime['rows']>) =>
  (runtime: Runtime): Runtime => ({
    ...bound(runtime),
    rows: { ...runtime.rows, ...change(runtime.rows) },
  })

const changed =
  (change: (problem: { [member: string]: unknown }, request: SimRequest) => object) =>
  async (request: SimRequest, response: SimResponse): Promise<SimResponse> => {
    const isJson = response.headers.get('content-type')?.includes('json') === true
    if (!isJson) return response
    const body = change((await response.clone().json()) as { [member: string]: unknown }, request)
    return new SimResponse(JSON.stringify(body), response)
  }

/** The owner of the token hears nobody: what it sends is applied, and it does not know. */
function deafOwner(site: number): Scene {
  const raw: Action = {
    ...{ id: 2_000, at: 2_000, lock: 'lock', type: 'raw-transact', waitMs: 0, participant: site },
  }
  const own = { ...plainTransact(1_000, 1_000, 'lock'), participant: site } as Action
  const faults: Fault[] = [
    { id: 1, at: 1_990, type: 'one-way', site, direction: 'deaf', routers: false, forMs: 14_000 },
  ]
  return { actions: [plainTransact(900, 0, 'lock'), own, raw], faults, durationMs: 17_000 }
}

const HOLD: Extract<Action, { type: 'hold' }> = {
  ...{ id: 1_000, at: 500, lock: 'lock', type: 'hold', waitMs: 1_000, ttlMs: 30_000, confirm: false },
  ...{ mode: 'exclusive', operations: 1, thinkMs: 1_500, abortAfterMs: null, participant: null },
  ending: 'release',
}

/** The participant hears that its holder is to go, and its answers get lost. */
const EJECTED_UNHEARD: Scene = {
  sites: 1,
  actions: [
    { ...HOLD, operations: 0, ending: 'vanish' },
    { id: 1_001, at: 1_000, lock: 'lock', type: 'eject', byFence: false },
  ],
  faults: [{ id: 1, at: 900, type: 'one-way', site: 1, direction: 'mute', routers: true, forMs: 8_000 }],
}

/** Somebody withdraws while another one is inside. */
const WITHDRAWN: Scene = {
  sites: 1,
  actions: [HOLD],
  others: [
    [
      {
        ...{ id: 2_000, at: 1_000, lock: 'lock', type: 'ticket', participant: null, ttlMs: 3_000 },
        ...{ polls: 1, pollMs: 0, ending: 'withdraw' },
      },
    ],
  ],
  durationMs: 5_000,
}

/** Whoever hears that the lock is as it wished is told that it has made it. */
const MAKERS_ALL: Tampering = {
  response: async ({ method }, real) =>
    method === 'PUT' && real.status === 200 ? new SimResponse(await real.text(), { status: 201 }) : real,
}

/** Nothing is calm there. */
const CONTESTS: PlanOptions = { contests: true, calmBirths: false }

const SAFETY = /^safety /
const ANY = /^(safety|liveness|defect) /

it('the service as it is breaks no rule in the same runs', async () => {
  for (let seed = 1; seed <= SEEDS / 2; seed++) {
    const { violation } = await runService(seed, { calmBirths: true })
    expect(violation, `seed ${seed}`).toBeNull()
  }
})

describe('a broken platform', () => {
  it('whose disk lies is found', async () => {
    await expectBroken({ lyingDisk: true }, SAFETY)
  })

  it('that lets answers out before what they are about is durable is found', async () => {
    await expectBroken({ withoutOutputGates: true }, SAFETY)
  })

  it('that loses some of what is saved is found', async () => {
    const withoutLog = (body: string) => joinLines(linesOf(body).filter(line => !line.startsWith('"log/')))
    const runtime = withRows(({ journal, segments }) => ({
      journal: {
        ...journal,
        put: (place, number, body) => journal.put(place, number, withoutLog(body)),
      },
      segments: { ...segments, put: (id, body) => segments.put(id, withoutLog(body)) },
    }))
    await expectBroken({ runtime }, ANY)
  })

  it('without alarms and timeouts is found', async () => {
    const never = { set: () => {} }
    const runtime = (real: Runtime): Runtime => ({ ...bound(real), alarm: never, timeout: never })
    await expectBroken({ runtime }, /^liveness /)
  })
})

describe('a broken participant', () => {
  it('that serves linearizable reads from its own copy is found', async () => {
    const read: Action = {
      ...{ id: 1_100, at: 3_000, lock: 'lock', type: 'get', consistency: 'linearizable', participant: 3 },
    }
    const faults: Fault[] = [
      { id: 1, at: 1_000, type: 'one-way', site: 3, direction: 'deaf', routers: false, forMs: 5_000 },
    ]
    const scene: Scene = { actions: [...transacts(5, 400), read], faults, durationMs: 7_000 }
    const entries: Tampering['entries'] = real => ({
      ...real,
      fetch: async (request, openSocket) => {
        if (!request.url.endsWith('/call')) return real.fetch(request, openSocket)
        const body = (await request.clone().text()).replace('"linearizable"', '"local"')
        return real.fetch(new SimRequest(request, { body }), openSocket)
      },
    })
    expect((await runPlan(planOf(scene), { entries })).violation?.rule).toBe('linearizable reads')
    expect((await runPlan(planOf(scene))).violation).toBeNull()
  })

  it('that lets somebody in who has withdrawn its ticket is found', async () => {
    const entries: Tampering['entries'] = real => ({
      ...real,
      fetch: async (request, openSocket) => {
        const isWithdrawal = (await request.clone().text()).includes('"type":"withdraw"')
        const done = () => SimResponse.json({ type: 'done', status: 204, body: null })
        return isWithdrawal ? done() : real.fetch(request, openSocket)
      },
    })
    expect((await runPlan(planOf(WITHDRAWN), { entries })).violation?.rule).toBe('waiters')
    expect((await runPlan(planOf(WITHDRAWN))).violation).toBeNull()
  })

  it('that throws is found', async () => {
    const entries: Tampering['entries'] = real => ({
      ...real,
      alarm: async () => {
        throw new Error('a defect')
      },
    })
    await expectBroken({ entries }, /^defect escaped$/)
  })

  it('that forgets what it was asked to remember of a peer is found', async () => {
    const entries: Tampering['entries'] = real => ({
      ...real,
      peer: async () => '{"type":"messages","messages":[]}',
    })
    await expectBroken({ entries }, /^liveness /)
  })
})

describe('a broken router', () => {
  it('that calls an operation not applied although nobody knows is found', async () => {
    const response = changed(problem =>
      problem.outcome === 'unknown' ? { ...problem, outcome: 'not-applied' } : problem,
    )
    const rules = new Set<string | undefined>()
    for (const participant of [1, 2, 3]) {
      const { violation } = await runPlan(planOf(deafOwner(participant)), { response })
      rules.add(violation?.rule)
      expect((await runPlan(planOf(deafOwner(participant)))).violation).toBeNull()
    }
    expect([...rules]).toContain('not-applied')
  })

  it('that says a lock is not deleted although nobody knows is found', async () => {
    const response = changed((problem, { method }) =>
      method === 'DELETE' && problem.code === 'no_quorum' ? { ...problem, outcome: 'not-applied' } : problem,
    )
    await expectBroken({ response }, /^safety outcomes$/, CONTESTS)
  })

  it('that says nobody was ejected although nobody knows is found', async () => {
    const response = changed(problem =>
      problem.code === 'no_quorum' ? { ...problem, outcome: 'not-applied' } : problem,
    )
    expect((await runPlan(planOf(EJECTED_UNHEARD), { response })).violation?.rule).toBe('outcomes')
    expect((await runPlan(planOf(EJECTED_UNHEARD))).violation).toBeNull()
  })

  it('that says it has made a lock that was there is found', async () => {
    await expectBroken(MAKERS_ALL, /^safety answers$/, CONTESTS)
  })

  it('that says to both who wished the same at once that they have made a lock is found', async () => {
    const [one, other] = [1_000, 2_000].map(
      (id): Action => ({ id, at: 500, lock: 'lock', type: 'put', wish: { ttlMs: 1_234 } }),
    )
    const plan = planOf({ actions: [one!], others: [[other!]], durationMs: 2_000 })
    expect((await runPlan(plan, MAKERS_ALL)).violation?.rule).toBe('answers')
    expect((await runPlan(plan)).violation).toBeNull()
  })

  it('that says a lock is made otherwise than it is is found', async () => {
    const response: Tampering['response'] = async ({ method }, real) =>
      method === 'PUT' && real.status === 200
        ? new SimResponse(JSON.stringify({ code: 'conflict' }), { status: 409, headers: real.headers })
        : real
    await expectBroken({ response }, /^safety answers$/, CONTESTS)
  })

  it('that says a lock is deleted before it is is found', async () => {
    const response: Tampering['response'] = async ({ method, url }, real) =>
      method === 'DELETE' && url.includes('generation=') ? new SimResponse(null, { status: 204 }) : real
    await expectBroken({ response }, /^safety (answers|deletes)$/, CONTESTS)
  })

  it('that calls an operation applied although it is not is found', async () => {
    const response: Tampering['response'] = async (request, real) => {
      if (!request.url.endsWith('/transact') || real.status !== 409) return real
      const body = { applied: true, results: [], sequence: 3, fence: 77 }
      return new SimResponse(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })
    }
    await expectBroken({ response }, /^safety acknowledged$/)
  })

  it('that answers with other results is found', async () => {
    const response = changed(body => {
      const { results } = body as { results?: { value?: number }[] }
      return results?.[0]?.value === undefined
        ? body
        : { ...body, results: [{ ...results[0], value: 1 }, results[1]] }
    })
    await expectBroken({ response }, /^safety results$/)
  })

  it('that gives a fence twice is found', async () => {
    const response = changed(body => ('fence' in body ? { ...body, fence: 4 } : body))
    await expectBroken({ response }, /^safety fences$/)
  })

  it('that tells of two configurations is found', async () => {
    let count = 0
    const response = changed((body, { method }) =>
      method === 'PUT' && 'ttlMs' in body ? { ...body, ttlMs: ++count } : body,
    )
    await expectBroken({ response }, /^safety one configuration$/)
  })

  it('that answers with 500 is found', async () => {
    const entries: Tampering['entries'] = real => ({
      ...real,
      fetch: async () => SimResponse.json({ type: 'done', status: 200, body: null }),
    })
    await expectBroken({ entries }, /^defect /)
  })
})

describe('a failing run', () => {
  it('is made smaller, and breaks the same rule', async () => {
    const response = changed(body => ('fence' in body ? { ...body, fence: 4 } : body))
    const options = { calmBirths: true, tampering: { response } }
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violation } = await runService(seed, options)
      if (violation?.rule !== 'fences') continue
      const shrunk = await shrinkService(seed, options, 120)
      expect(shrunk.result.violation?.rule).toBe('fences')
      expect(shrunk.left).toBeLessThan(12)
      return
    }
    expect.unreachable('no seed breaks the rule')
  })
})
