/** Clients that give up or vanish while they wait, where nothing else goes wrong but the network. */
import { describe, expect, it } from 'vitest'
import type { ProtocolName } from '../../../shared/protocols/protocol.ts'
import { SimRequest } from './http.ts'
import type { Plan } from './plan.ts'
import type { Action, Ending } from './plan-actions.ts'
import { runPlan } from './run.ts'
import { planOf } from './scenes.ts'
import type { Tampering } from './tampering.ts'

type Hold = Extract<Action, { type: 'hold' }>

const TTL_MS = 60_000

const hold = (id: number, at: number, more: Partial<Hold>): Hold => ({
  ...{ id, at, lock: 'lock', type: 'hold', waitMs: 20_000, ttlMs: TTL_MS, confirm: false, mode: 'exclusive' },
  ...{ operations: 1, thinkMs: 300, ending: 'release', abortAfterMs: null, participant: null },
  ...more,
})

/**
 * Three clients one of which holds the lock for a while; the others wait for it, and many of them go before
 * their turn.
 */
function crowd(seed: number, protocol: ProtocolName, ending: Ending, loss = 0): Plan {
  const others = [0, 1].map(client =>
    Array.from({ length: 5 }, (_, index) => {
      const abortAfterMs = 20 + ((seed * 97 + index * 61 + client * 31) % 330)
      const participant = index % 2 === 0 ? null : 1 + ((seed + index + client) % 3)
      return hold(2_000 + 1_000 * client + index, 60 + 700 * index + 40 * client, {
        ...{ ending, abortAfterMs, participant },
        ...(index === 4 && { waitMs: 40_000 }),
      })
    }),
  )
  const actions = Array.from({ length: 6 }, (_, index) => hold(1_000 + index, 700 * index, {}))
  const plan = planOf({ seed, protocol, actions, others, durationMs: 6_000 })
  return { ...plan, network: { ...plan.network, requestLoss: loss, responseLoss: loss } }
}

async function run(plan: Plan, tampering: Tampering = {}) {
  const { violation, counts } = await runPlan(plan, tampering)
  return { rule: violation === null ? null : `${violation.rule}: ${violation.message}`, counts }
}

describe.each<[string, Ending]>([
  ['gives up', 'release'],
  ['vanishes', 'vanish'],
])('a client that %s while it waits', (_, ending) => {
  it.each<[ProtocolName, number]>([
    ['wme-2', 0],
    ['wme-2', 0.1],
    ['wme-consensus', 0],
    ['ricart-agrawala', 0],
  ])('holds nothing for long (%s, %d of all messages lost)', async (protocol, loss) => {
    let ghosts = 0
    for (let seed = 1; seed <= 12; seed++) {
      const { rule, counts } = await run(crowd(seed, protocol, ending, loss))
      expect(rule, `seed ${seed}`).toBeNull()
      ghosts += counts.ghosts
    }
    if (ending === 'vanish') expect(ghosts).toBeGreaterThan(0)
  })
})

describe('the judge finds', () => {
  /** The first rule that is broken among the first seeds. */
  const broken = async (ending: Ending, tampering: Tampering): Promise<string> => {
    for (let seed = 1; seed <= 40; seed++) {
      const { rule } = await run(crowd(seed, 'wme-2', ending), tampering)
      if (rule !== null) return rule
    }
    return 'nothing'
  }

  const callOf = async (request: SimRequest): Promise<{ type: string; user: string }> =>
    ((await request.clone().json()) as { call: { type: string; user: string } }).call

  it('a service that takes every grant for one that somebody has', async () => {
    const entries: Tampering['entries'] = real => ({
      ...real,
      fetch: async (request, openSocket) => {
        const answer = await real.fetch(request, openSocket)
        if (!request.url.endsWith('/call')) return answer
        const { type, user } = await callOf(request)
        if (type !== 'acquire' && type !== 'ticket') return answer
        const confirm = JSON.stringify({ call: { type: 'confirm', user } })
        await real.fetch(new SimRequest(request, { body: confirm }), openSocket)
        return answer
      },
    })
    expect(await broken('vanish', { entries })).toMatch(/^ghosts: lock: nobody was told of fence/)
  })
})
