/** What the participants of a lock recorded, judged: the violations, with their evidence. */
import { expect } from 'vitest'
import type { Lock, ResourceTypes } from '../../client/index.ts'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { judge } from '../../shared/history/judge.ts'
import { DEFAULT_LIMITS } from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import type { Resource } from '../../shared/resource/resource.ts'

export interface RecordedHistory {
  readonly protocol: string
  readonly resource: string
  readonly participants: readonly number[]
  /** By time; what one participant recorded stays in order. */
  readonly events: readonly HistoryEvent[]
}

/** Every participant must answer: a history with a part missing proves nothing. */
export async function historyOf<Types extends ResourceTypes>(lock: Lock<Types>): Promise<RecordedHistory> {
  const { protocol, resource, participants } = await lock.history()
  const silent = participants.filter(({ reachable }) => !reachable).map(({ id }) => id)
  if (silent.length > 0) throw new Error(`participants ${silent} of ${lock.name} did not tell their history`)
  const events = participants
    .flatMap(participant => participant.events)
    .sort((left, right) => left.at - right.at)
  return { protocol, resource, participants: participants.map(({ id }) => id), events }
}

/**
 * A user that waited at a participant that was killed meanwhile still waits there, or holds the lock, until
 * its time is over.
 */
async function untilQuiet<Types extends ResourceTypes>(lock: Lock<Types>): Promise<void> {
  const unrest = async () => {
    const { holder, participants } = await lock.status()
    return { holder, queues: participants.filter(({ queue }) => queue !== 0) }
  }
  await expect.poll(unrest, { timeout: 60_000 }).toEqual({ holder: null, queues: [] })
}

/**
 * All are up, and nothing is owed to anybody: a user that still waits was forgotten, which the last three
 * marks tell the judge.
 */
export async function violationsIn<Types extends ResourceTypes>(
  lock: Lock<Types>,
  guarded: Resource = keyValue,
): Promise<string[]> {
  await untilQuiet(lock)
  const { protocol, resource, participants, events } = await historyOf(lock)
  const at = Date.now()
  const header = { format: 1, protocol, participants: participants.length, resource } as const
  const history = {
    header: { ...header, resultsKept: DEFAULT_LIMITS.resultsKept },
    events: [
      ...events,
      { at, type: 'healed', participants } as const,
      { at, type: 'settled' } as const,
      { at, type: 'end' } as const,
    ],
  }
  const { properties, safety } = judge(history, guarded)
  const invalid = properties.filter(({ verdict }) => verdict === 'invalid')
  if (invalid.length === 0 && safety !== 'valid') return [`safety is ${safety}`]
  return invalid.map(({ name, evidence }) => `${name}: ${JSON.stringify(evidence)}`)
}
