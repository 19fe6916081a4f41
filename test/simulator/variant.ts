/**
 * What a run is about: a variant of a protocol, and the faults that this variant claims to survive. Scenarios
 * are drawn within the claims: what a protocol does where it promises nothing proves nothing.
 */
import type { ProtocolOptions } from '../../shared/protocols/protocol.ts'
import { FAULTS, type Fault } from './faults.ts'

export interface Variant {
  /** `null`: no options, everything is as in the paper's base algorithm. */
  readonly options: ProtocolOptions | null
  readonly claims: Claims
  /** What is claimed without any options. */
  readonly plain: Claims
}

export interface Claims {
  readonly faults: readonly Fault[]
  /** Progress is owed only once all participants are back; otherwise a majority is enough. */
  readonly needsEverybody: boolean
  /** There is a replicated state: users issue operations on it, and it can be read. */
  readonly guardsState: boolean
  /** Users may share the lock with each other. */
  readonly readers: boolean
  /** Only a minority crashes, and always the same; one of the others never leaves them to themselves. */
  readonly mostNeverCrash?: boolean
}

export const without = (claims: Claims, ...gone: readonly Fault[]): Claims => ({
  ...claims,
  faults: claims.faults.filter(fault => !gone.includes(fault)),
})

export const plainOf = ({ plain }: Variant): Variant => ({ options: null, claims: plain, plain })

const allBut = (...others: readonly Fault[]): Fault[] => FAULTS.filter(fault => !others.includes(fault))

/**
 * Clients of wme-1 and wme-2 that misbehave are in the tests of their service; these seeds stay what they
 * were.
 */
const WME_CLAIMS: Claims = {
  faults: allBut('mischief', 'leavers'),
  needsEverybody: false,
  guardsState: true,
  readers: false,
}

export const WME_VARIANT: Variant = { options: null, claims: WME_CLAIMS, plain: WME_CLAIMS }

/** The state is replicated, but a participant that loses its storage is lost to the consensus. */
export const CONSENSUS_CLAIMS: Claims = {
  faults: allBut('wipes', 'leavers'),
  needsEverybody: false,
  guardsState: true,
  readers: false,
}

export const CHANGING_CONSENSUS_CLAIMS: Claims = { ...CONSENSUS_CLAIMS, faults: allBut('leavers') }

/**
 * A lock and nothing else: all participants are asked, so all must come back, with everything that they had
 * stored.
 */
export const LOCK_ONLY_CLAIMS: Claims = {
  faults: allBut('wipes', 'leavers'),
  needsEverybody: true,
  guardsState: false,
  readers: false,
}
