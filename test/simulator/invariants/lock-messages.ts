/**
 * I17 for the two locks that guard no state: what a message says is durable before it leaves. Each check
 * returns what is missing in the storage of the sender, or nothing.
 */
import type { Json } from '../../../shared/json.ts'
import type { MaekawaMessage } from '../../../shared/protocols/maekawa/messages.ts'
import type * as Maekawa from '../../../shared/protocols/maekawa/state.ts'
import type { ParticipantId } from '../../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../../shared/protocols/ricart-agrawala/messages.ts'
import type * as RicartAgrawala from '../../../shared/protocols/ricart-agrawala/state.ts'

type Storage = ReadonlyMap<string, Json>

export type MissingBefore<Message> = (storage: Storage, to: ParticipantId, message: Message) => string | null

const stored = <Value>(storage: Storage, key: string): Value | undefined =>
  storage.get(key) as Value | undefined

/** The highest sequence number in a node's records. */
function highestStored(storage: Storage): number {
  let highest = stored<Maekawa.Arbiter>(storage, 'arbiter')?.locker?.sequence ?? 0
  for (const [key, value] of storage) {
    if (!/^(own|observed|waiting\/.*|ended\/.*)$/.test(key)) continue
    highest = Math.max(highest, (value as { sequence: number }).sequence)
  }
  return highest
}

export const missingForMaekawa: MissingBefore<MaekawaMessage> = (storage, to, message) => {
  if ('highest' in message && message.highest > highestStored(storage)) return 'the highest number'
  const own = stored<Maekawa.OwnRequest>(storage, 'own')
  switch (message.type) {
    case 'request':
      return own?.phase === 'requesting' && own.sequence === message.sequence ? null : 'the request'
    case 'locked': {
      const arbiter = stored<Maekawa.Arbiter>(storage, 'arbiter')
      const { sequence, round } = message
      const isLocked = arbiter?.locker?.node === to && arbiter.locker.sequence === sequence
      return isLocked && arbiter.round === round ? null : 'for whom the arbiter is locked'
    }
    case 'relinquish':
      return (own?.relinquished[to] ?? 0) >= message.round ? null : 'that the lock is given back'
    case 'release': {
      const isOver = own !== undefined && (own.sequence > message.sequence || own.phase === 'idle')
      return isOver ? null : 'that the request is over'
    }
    default:
      return null
  }
}

export const missingForRicartAgrawala: MissingBefore<RicartAgrawalaMessage> = (storage, _to, message) => {
  const own = stored<RicartAgrawala.OwnRequest>(storage, 'own')
  const highest = stored<RicartAgrawala.Highest>(storage, 'highest')?.request ?? 0
  switch (message.type) {
    case 'request':
    case 'are-you-there': {
      // A participant that restarts may ask, and find in the same step that nobody needs the answer any more.
      const isOwn = own !== undefined && own.request >= message.request
      return isOwn && highest >= message.request ? null : 'the request'
    }
    case 'reply':
      return highest >= message.request ? null : 'that this number was seen'
    case 'change':
      return storage.has('sponsoring') ? null : 'the change of the group'
    default:
      return null
  }
}
