/**
 * Scenarios are drawn within what a protocol claims to survive; all variants occur, and none that the
 * protocol refuses.
 */
import { describe, expect, it } from 'vitest'
import type { ProtocolOptions } from '../../shared/protocols/protocol.ts'
import { checkOptions } from '../../shared/protocols/ricart-agrawala/options.ts'
import { wmeConsensus } from '../../shared/protocols/wme-consensus/wme-consensus.ts'
import { consensusSubject } from './consensus-subject.ts'
import { OPTIONS } from './fixtures.ts'
import { maekawaSubject, ricartAgrawalaSubject } from './lock-only-subject.ts'
import { runSeed, variantOf } from './run.ts'
import { drawScenario, type Scenario } from './scenario.ts'
import type { Subject } from './subject.ts'

const SEEDS = 400

function scenariosOf<State, Message>(subject: Subject<State, Message>, participants: number): Scenario[] {
  const options = { ...OPTIONS, protocol: subject.protocol.name, participants }
  return Array.from({ length: SEEDS }, (_, seed) =>
    drawScenario(options, seed, variantOf(subject, options, seed)),
  )
}

const never = Number.POSITIVE_INFINITY

describe('scenarios of ricart-agrawala', () => {
  const scenarios = [1, 2, 3, 4, 5, 7, 13].flatMap(participants =>
    scenariosOf(ricartAgrawalaSubject(), participants),
  )

  it('have options that the protocol takes, and each of them now and then', () => {
    const seen = new Set<string>()
    for (const { variant, options } of scenarios) {
      const chosen = variant.options ?? {}
      expect(checkOptions(chosen, options.participants)).toBeNull()
      for (const [name, value] of Object.entries(chosen as ProtocolOptions))
        seen.add(name === 'increment' ? value.type : name === 'ring' ? value : name)
    }
    const all = 'implicitReply waiting marking modulus random priority names declareDeadAfterMs'.split(' ')
    expect([...seen].sort()).toEqual(all.sort())
    expect(scenarios.some(({ variant }) => variant.options === null)).toBe(true)
  })

  it('lose, delay and stop nothing where silence is taken for an answer', () => {
    for (const { variant, network, meanMs, crashAfterSave } of scenarios) {
      const { implicitReply, declareDeadAfterMs } = variant.options ?? {}
      if (implicitReply === undefined && declareDeadAfterMs === undefined) continue
      expect(network.loss).toBe(0)
      for (const fault of ['partitions', 'one-way', 'pauses', 'delays', 'wipes'] as const)
        expect(meanMs[fault]).toBe(never)
      if (declareDeadAfterMs !== undefined) continue
      expect([meanMs.crashes, crashAfterSave]).toEqual([never, 0])
      // A clock may be a quarter too fast.
      expect(implicitReply!.roundTripMs).toBeGreaterThanOrEqual(1.25 * 2 * network.delayMaxMs)
    }
  })

  it('have readers, except with a modulus', () => {
    expect(scenarios.some(({ clients }) => clients.shared > 0)).toBe(true)
    for (const { variant, clients } of scenarios)
      if (variant.options?.modulus !== undefined) expect(clients.shared).toBe(0)
  })
})

describe('scenarios of the others', () => {
  it('are never wiped, and those of a lock alone have no operations and no reads', () => {
    const locks = scenariosOf(maekawaSubject(), 3)
    const machines = scenariosOf(consensusSubject(wmeConsensus), 3)
    for (const { meanMs } of [...locks, ...machines]) expect(meanMs.wipes).toBe(never)
    for (const { clients, readMs } of locks)
      expect([clients.issues, clients.shared, readMs]).toEqual([false, 0, never])
    expect(machines.some(({ readMs }) => readMs !== never)).toBe(true)
    const forms = new Set(machines.map(({ variant }) => variant.options?.consensus))
    expect([...forms].sort()).toEqual(['latency-optimal', 'message-optimal'])
  })

  it('with all participants healed in the end, where everybody is needed', () => {
    for (const protocol of ['maekawa', 'ricart-agrawala'] as const) {
      for (let seed = 1; seed <= 5; seed++) {
        const { history, counts } = runSeed({ ...OPTIONS, protocol, participants: 4, durationMs: 500 }, seed)
        expect(history.events.findLast(({ type }) => type === 'healed')).toMatchObject({
          participants: [1, 2, 3, 4],
        })
        expect(counts.brokenAfterHealing).toBe(0)
      }
    }
  })
})
