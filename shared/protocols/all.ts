/** Every protocol by its name, for interpreters that run whichever a lock was born with. */
import { maekawa } from './maekawa/maekawa.ts'
import type { Envelope, Protocol, ProtocolName, ProtocolOptions } from './protocol.ts'
import { checkOptions as checkRicartAgrawala } from './ricart-agrawala/options.ts'
import { ricartAgrawala } from './ricart-agrawala/ricart-agrawala.ts'
import { wme1, wme2 } from './wme/wme.ts'
import { wmeConsensus } from './wme-consensus/wme-consensus.ts'

/** A state and messages that only the protocol itself looks into. */
export type OpaqueState = { readonly opaque: unique symbol }
export type OpaqueMessage = { readonly type: string }
export type AnyProtocol = Protocol<OpaqueState, OpaqueMessage>
export type AnyEnvelope = Envelope<OpaqueMessage>

export const PROTOCOLS = {
  'wme-1': wme1,
  'wme-2': wme2,
  'wme-consensus': wmeConsensus,
  'ricart-agrawala': ricartAgrawala,
  maekawa,
} as const satisfies { readonly [name in ProtocolName]: { readonly name: string } }

export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as [ProtocolName, ...ProtocolName[]]

/** The protocols whose locks several readers can hold at once. */
export const SHARING_PROTOCOLS: readonly ProtocolName[] = ['ricart-agrawala']

/** The protocols whose locks guard state. */
export const GUARDING_PROTOCOLS: readonly ProtocolName[] = ['wme-1', 'wme-2', 'wme-consensus']

/** What a participant is given is what it wrote itself: storage and peers are of the same lock, so of the same protocol. */
export const protocolNamed = (name: ProtocolName): AnyProtocol => PROTOCOLS[name] as unknown as AnyProtocol

/** A sentence that says which option the protocol does not have, or that does not go with another; or `null`. */
export function checkOptions(
  protocol: ProtocolName,
  options: ProtocolOptions,
  participants: number,
): string | null {
  if (protocol === 'ricart-agrawala') return checkRicartAgrawala(options, participants)
  const known = protocol === 'wme-consensus' ? ['consensus'] : []
  const foreign = Object.keys(options).find(option => !known.includes(option))
  return foreign === undefined ? null : `${protocol} has no option ${foreign}.`
}
