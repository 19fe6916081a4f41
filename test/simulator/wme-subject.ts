/** Weak mutual exclusion as the subject of a simulation. */
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { Membership, Progress, WmeState } from '../../shared/protocols/wme/state.ts'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import { WmeInvariants } from './invariants/wme-invariants.ts'
import { WME_RECORDS } from './members/member-records.ts'
import type { Random } from './random.ts'
import type { Subject } from './subject.ts'
import { type Variant, WME_VARIANT } from './variant.ts'

/** Only wme-2 can ask a majority first, and it does unless it is told not to. */
const wmeVariant = (name: ProtocolName, random: Random): Variant =>
  name === 'wme-2' && random.chance(0.25)
    ? { ...WME_VARIANT, options: { majorityFirst: false } }
    : WME_VARIANT

export function wmeSubject(name: ProtocolName): Subject<WmeState, WmeMessage> {
  return {
    protocol: name === 'wme-1' ? wme1 : wme2,
    drawVariant: random => wmeVariant(name, random),
    members: WME_RECORDS,
    isMember: ({ storage }) => (storage.get('membership') as Membership | undefined)?.status === 'member',
    ownerBy: ({ state }) => state.derived.owner,
    isIdle: ({ state: { durable, soft } }) =>
      durable.membership.status === 'member' &&
      durable.stub.phase === 'idle' &&
      durable.waiters.length === 0 &&
      soft.reads.length + soft.ejects.length === 0,
    isChanging: ({ state, isUp }) => isUp && state.soft.changes.length > 0,
    appliedBy: storage => (storage.get('progress') as Progress | undefined)?.applied ?? 0,
    cellsOf: ({ state }) => state.durable.replica.cells,
    createChecks: world => new WmeInvariants(world),
  }
}
