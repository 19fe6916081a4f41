/** Every protocol by its name, for interpreters that run whichever protocol a lock was born with. */
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

/**
 * The cast is safe: a participant only ever gets back what it wrote itself, because its storage and its peers
 * belong to the same lock and therefore to the same protocol.
 */
export const protocolNamed = (name: ProtocolName): AnyProtocol => PROTOCOLS[name] as unknown as AnyProtocol

const KNOWN_OPTIONS: { readonly [name in ProtocolName]?: readonly (keyof ProtocolOptions)[] } = {
  'wme-2': ['majorityFirst'],
  'wme-consensus': ['consensus'],
}

/**
 * Returns a sentence that names an option the protocol does not have, or one that conflicts with another
 * option; `null` if all is well.
 */
export function checkOptions(
  protocol: ProtocolName,
  options: ProtocolOptions,
  participants: number,
): string | null {
  if (protocol === 'ricart-agrawala') return checkRicartAgrawala(options, participants)
  const known = KNOWN_OPTIONS[protocol] ?? []
  const foreign = Object.keys(options).find(option => !known.includes(option as keyof ProtocolOptions))
  return foreign === undefined ? null : `${protocol} has no option ${foreign}.`
}
