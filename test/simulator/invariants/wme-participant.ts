/** Short names for what the invariants of weak mutual exclusion look at. */
import type { Json } from '../../../shared/json.ts'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import type { EpochRecord, LogBase, WmeState } from '../../../shared/protocols/wme/state.ts'
import type { Participant } from '../participant.ts'
import { violate } from '../violation.ts'

export type WmeParticipant = Participant<WmeState, WmeMessage>

/** A record as it is in storage, which is all that counts once the process is gone. */
export function stored<Value>(participant: WmeParticipant, key: string): Value {
  const value = participant.storage.get(key)
  if (value === undefined) violate('I17', `p${participant.id} has no record '${key}' in its storage`)
  return value as Json as Value
}

export const storedEpoch = (participant: WmeParticipant): EpochRecord =>
  stored<EpochRecord>(participant, 'epoch')

/** Where the stored log begins; a log that was never cut has no record of it. */
export const storedBaseSequence = ({ storage }: WmeParticipant): number =>
  (storage.get('base') as LogBase | undefined)?.sequence ?? 0

export const lengthOf = ({ durable }: WmeState): number => durable.base.sequence + durable.log.length
