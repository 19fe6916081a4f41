/** Weak mutual exclusion as the subject of a simulation. */
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { Membership, WmeState } from '../../shared/protocols/wme/state.ts'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import { WmeInvariants } from './invariants/wme-invariants.ts'
import type { Subject } from './subject.ts'
import { WME_VARIANT } from './variant.ts'

export function wmeSubject(name: ProtocolName): Subject<WmeState, WmeMessage> {
  return {
    protocol: name === 'wme-1' ? wme1 : wme2,
    drawVariant: () => WME_VARIANT,
    isMember: ({ storage }) => (storage.get('membership') as Membership | undefined)?.status === 'member',
    ownerBy: ({ state }) => state.derived.owner,
    isIdle: ({ state: { durable, soft } }) =>
      durable.membership.status === 'member' &&
      durable.stub.phase === 'idle' &&
      durable.waiters.length === 0 &&
      soft.reads.length + soft.ejects.length === 0,
    cellsOf: ({ state }) => state.durable.replica.cells,
    createChecks: world => new WmeInvariants(world),
  }
}
