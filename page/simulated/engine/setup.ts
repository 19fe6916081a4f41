/** What a run begins with. Everything else follows from it and from the actions. */
import { GUARDING_PROTOCOLS, PROTOCOL_NAMES, protocolNamed } from '../../../shared/protocols/all.ts'
import {
  DEFAULT_LIMITS,
  type Limits,
  type ProtocolName,
  type Timing,
} from '../../../shared/protocols/protocol.ts'

/** `redlock` is no protocol of Baton: it is here to be compared with. */
export type SimulatedProtocol = ProtocolName | 'redlock'

export interface Setup {
  readonly protocol: SimulatedProtocol
  readonly participants: number
  readonly seed: number
  /** How long a grant lasts without a word of its user. */
  readonly ttlMs: number
}

export const SIMULATED_PROTOCOLS: readonly SimulatedProtocol[] = [...PROTOCOL_NAMES, 'redlock']
export const MAX_PARTICIPANTS = 13
/** With the machines that come later. */
export const MAX_MACHINES = 20
export const MAX_SEED = 999_999_999
export const LONG_TTL_MS = 3_600_000
/** What would come only after so long a silence is not waited for. */
export const HORIZON_MS = 600_000
export const MIN_TTL_MS = 50
/** A run that is longer is not shown: a page cannot grow without end. */
export const MAX_MOMENTS = 6_000
export const MAX_ACTIONS = 400

export const DEFAULT_SETUP: Setup = { protocol: 'wme-2', participants: 3, seed: 1, ttlMs: LONG_TTL_MS }

export const guardsState = (protocol: SimulatedProtocol): boolean =>
  (GUARDING_PROTOCOLS as readonly string[]).includes(protocol)

export const canChangeMembers = (protocol: SimulatedProtocol): boolean =>
  protocol !== 'redlock' && protocolNamed(protocol).changesMembers({})

/** One message takes this long, at least and at most. */
export const DELAY_MIN_MS = 16
export const DELAY_MAX_MS = 26

/** In proportion to the delays; a service that spans the earth has the same with larger numbers. */
export const TIMING: Timing = {
  heartbeatMs: 120,
  timeoutMs: 320,
  timeoutMaxMs: 4_000,
  timeoutMinMs: 160,
  repeatMs: 160,
  repeatMaxMs: 2_000,
  proposeMs: 80,
  flushMs: 12,
  confirmMs: 12,
}

export const LIMITS: Limits = { ...DEFAULT_LIMITS, resultsKept: 1_000, waiters: 20 }
