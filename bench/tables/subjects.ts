/** The protocols and their variants, as they are measured. */
import { type AnyProtocol, protocolNamed } from '../../shared/protocols/all.ts'
import type { Mode, ProtocolName, ProtocolOptions } from '../../shared/protocols/protocol.ts'
import type { Subject } from './measure.ts'
import { DELAY_MS } from './nice-run.ts'

export const SIZES = [3, 4, 5, 7, 9, 13, 21] as const

interface Variant {
  readonly protocol: ProtocolName
  readonly options?: (participants: number) => ProtocolOptions
  readonly mode?: Mode
}

/** 6.1: the time of a round trip is known, and exact. */
const implicitReply = { roundTripMs: 2 * DELAY_MS, assumeNothingIsLostOrLate: true } as const

const ricartAgrawala = (options?: Variant['options']): Variant => ({
  protocol: 'ricart-agrawala',
  ...(options && { options }),
})

export const VARIANTS = {
  'wme-1': { protocol: 'wme-1' },
  // As in Figure 4: an operation goes to all.
  'wme-2': { protocol: 'wme-2', options: () => ({ majorityFirst: false }) },
  'majority first': { protocol: 'wme-2' },
  'latency-optimal': { protocol: 'wme-consensus', options: () => ({ consensus: 'latency-optimal' }) },
  'message-optimal': { protocol: 'wme-consensus', options: () => ({ consensus: 'message-optimal' }) },
  'ricart-agrawala': ricartAgrawala(),
  implicitReply: ricartAgrawala(() => ({ implicitReply })),
  'ring: waiting': ricartAgrawala(() => ({ ring: 'waiting' })),
  'ring: marking': ricartAgrawala(() => ({ ring: 'marking' })),
  modulus: ricartAgrawala(participants => ({ modulus: 2 * participants - 1 })),
  increment: ricartAgrawala(() => ({ increment: { type: 'random', most: 8 } })),
  readers: { protocol: 'ricart-agrawala', mode: 'shared' },
  maekawa: { protocol: 'maekawa' },
} as const satisfies { readonly [name: string]: Variant }

export type VariantName = keyof typeof VARIANTS

/** Tests pass protocols that are broken on purpose. */
export type ProtocolOf = (name: ProtocolName) => AnyProtocol

export function subjectOf(
  name: VariantName,
  participants: number,
  requester: number,
  protocolOf: ProtocolOf = protocolNamed,
): Subject {
  const { protocol, options, mode }: Variant = VARIANTS[name]
  return {
    setting: {
      protocol: protocolOf(protocol),
      participants,
      ...(options && { options: options(participants) }),
    },
    requester,
    guardsState: guardsState(name),
    ...(mode && { mode }),
  }
}

export const guardsState = (name: VariantName): boolean => VARIANTS[name].protocol.startsWith('wme')
