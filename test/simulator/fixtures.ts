/** Hand-made participants, for the tests which show that a broken state is noticed. */
import { expect } from 'vitest'
import type { Json } from '../../shared/json.ts'
import type { Context, ParticipantConfig } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { GrantEntry, OperationEntry, WmeState } from '../../shared/protocols/wme/state.ts'
import { wme1 } from '../../shared/protocols/wme/wme.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { FAULTS } from './faults.ts'
import type { WmeParticipant } from './invariants/wme-participant.ts'
import { Participant } from './participant.ts'
import { drawScenario, type RunOptions } from './scenario.ts'
import { WME_VARIANT } from './variant.ts'
import { Violation } from './violation.ts'

export const OPTIONS: RunOptions = {
  protocol: 'wme-1',
  participants: 3,
  faults: FAULTS,
  durationMs: null,
  users: null,
}

export const SCENARIO = drawScenario(OPTIONS, 1, WME_VARIANT)

export function contextOf(self: number, participants = 3): Context {
  const { timing, limits } = SCENARIO
  const config: ParticipantConfig = { self, participants, configuration: 1, localHandoffs: 1, timing, limits }
  return { config, resource: keyValue }
}

/** A participant at the birth of its lock: participant 1 has the token, nothing has happened. */
export function newborn(id: number): WmeParticipant {
  const context = contextOf(id)
  const participant = new Participant<WmeState, WmeMessage>(context, wme1.recover(context, []), 1, 0)
  participant.isUp = true
  const effects = wme1.step(context, participant.state, {
    type: 'start',
    now: 0,
    genesis: true,
    incarnation: id,
  })
  for (const effect of effects) {
    if (effect.type !== 'save') continue
    for (const { key, value } of effect.records) keep(participant, key, value)
  }
  return participant
}

export function keep(
  participant: WmeParticipant,
  key: string,
  value: object | string | number | boolean | null,
): void {
  if (value === null) participant.storage.delete(key)
  else participant.storage.set(key, value as Json)
}

export function grantEntry(sequence: number, by: number, to: number, epoch = 0): GrantEntry {
  return { kind: 'grant', sequence, epoch, by, to, requestId: sequence, digest: '' }
}

export function operationEntry(sequence: number, by: number, opId = `op-${sequence}`): OperationEntry {
  const operation = [{ increment: 'counter' }]
  return { kind: 'operation', sequence, epoch: 0, by, fence: 1, opId, operation, weight: 25, digest: '' }
}

/** Expects that this breaks exactly this rule. */
export function expectViolation(rule: string, action: () => unknown): void {
  let broken: string | null = null
  try {
    action()
  } catch (thrown) {
    if (!(thrown instanceof Violation)) throw thrown
    broken = thrown.rule
  }
  expect(broken).toBe(rule)
}
