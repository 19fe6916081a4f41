/** How the storage of a participant tells who the members are: each protocol has its own records of it. */
import type { Json } from '../../../shared/json.ts'
import type { OfSet } from '../../../shared/protocols/members/sets.ts'
import type { Group } from '../../../shared/protocols/ricart-agrawala/messages.ts'
import type * as RicartAgrawala from '../../../shared/protocols/ricart-agrawala/state.ts'
import type { EpochRecord, Membership } from '../../../shared/protocols/wme/state.ts'
import type * as Consensus from '../../../shared/protocols/wme-consensus/state.ts'

type Storage = ReadonlyMap<string, Json>

/** A set, and what orders it among the others. */
export interface SetRecord extends OfSet {
  readonly epoch: number
}

export interface MemberRecords {
  /** The record in which a participant stores the set. */
  readonly key: string
  /** What the value of that record says. */
  read(value: Json): SetRecord
  /** Whether this participant is a member, and has everything from before the set of this name. */
  isInstalled(storage: Storage, config: number): boolean
  isRemoved(storage: Storage): boolean
  /** Whether this participant is a member, or has been one. */
  wasMember(storage: Storage): boolean
  /** Whether what this participant has still counts: it has not lost or dropped anything. */
  keeps(storage: Storage, wasWiped: boolean): boolean
  /** All members are needed for anything; otherwise a majority is. */
  readonly needsAll: boolean
  /** One that has lost its storage is taken back. Otherwise it stays lost until it is replaced. */
  readonly readmits: boolean
}

/** The statuses of one that may never have been a member. */
const OUTSIDE: readonly string[] = ['blank', 'joining']

const stored = <Value>(storage: Storage, key: string): Value | undefined =>
  storage.get(key) as Value | undefined

const wasMember = (storage: Storage): boolean =>
  !OUTSIDE.includes(stored<{ status: string }>(storage, 'membership')?.status ?? 'blank')

export const WME_RECORDS: MemberRecords = {
  key: 'epoch',
  read: value => value as unknown as EpochRecord,
  isInstalled: (storage, config) =>
    stored<Membership>(storage, 'membership')?.status === 'member' &&
    (stored<EpochRecord>(storage, 'epoch')?.epoch ?? -1) >= config,
  isRemoved: storage => stored<Membership>(storage, 'membership')?.status === 'removed',
  wasMember,
  keeps(storage, wasWiped) {
    const membership = stored<Membership>(storage, 'membership')
    if (membership?.status === 'removed') return membership.hasData
    return membership?.status === 'member' || (membership?.status === 'joining' && !wasWiped)
  },
  needsAll: false,
  readmits: true,
}

export const RICART_AGRAWALA_RECORDS: MemberRecords = {
  key: 'group',
  read(value) {
    const { set, number } = value as unknown as Group
    return set === undefined ? { epoch: number } : { epoch: number, set }
  },
  isInstalled(storage, config) {
    const set = stored<Group>(storage, 'group')?.set
    const status = stored<RicartAgrawala.Membership>(storage, 'membership')?.status
    return status === 'member' && (set?.config ?? 0) === config && (set === undefined || set.isReached)
  },
  isRemoved: storage => stored<RicartAgrawala.Membership>(storage, 'membership')?.status === 'removed',
  wasMember,
  keeps: storage => storage.size > 0,
  needsAll: true,
  readmits: true,
}

export const CONSENSUS_RECORDS: MemberRecords = {
  key: 'machine',
  read(value) {
    const { set, applied } = value as unknown as Consensus.Machine
    return set === undefined ? { epoch: applied } : { epoch: applied, set }
  },
  isInstalled: (storage, config) =>
    stored<Consensus.Membership>(storage, 'membership')?.status === 'member' &&
    (stored<Consensus.Machine>(storage, 'machine')?.applied ?? -1) >= config,
  isRemoved: storage => stored<Consensus.Membership>(storage, 'membership')?.status === 'removed',
  wasMember,
  keeps(storage, wasWiped) {
    const membership = stored<Consensus.Membership>(storage, 'membership')
    if (membership?.status === 'removed') return membership.hasData
    return membership?.status === 'member' || (membership?.status === 'joining' && !wasWiped)
  },
  needsAll: false,
  readmits: false,
}
