/**
 * Figure 3: the states of a stub and the transitions between them.
 *
 * There are two departures. TOKEN_HELD is not stored: it is `idle` at the participant that the log says is
 * the owner (trap A1). `entering` is new: the token is here, but the user asked to be let in only once a
 * majority holds the grant.
 */

/** IDLE, REQUESTING, (entering), CS_IDLE, CS_ISSUING */
export type Phase = 'idle' | 'requesting' | 'entering' | 'cs-idle' | 'cs-issuing'

/** The phase as people see it, with TOKEN_HELD. */
export type ReportedPhase = Phase | 'token-held'

const TRANSITIONS: { readonly [from in Phase]: readonly Phase[] } = {
  // try
  idle: ['requesting'],
  // GRANTED; the same, but to be confirmed; the last waiting user withdrew
  requesting: ['cs-idle', 'entering', 'idle'],
  // confirmed; the grant was rolled back (dashed); the waiting user withdrew
  entering: ['cs-idle', 'requesting', 'idle'],
  // issue; exit, or ejected (dashed)
  'cs-idle': ['cs-issuing', 'idle'],
  // outcome; ejected (dashed)
  'cs-issuing': ['cs-idle', 'idle'],
}

export const isTransition = (from: Phase, to: Phase): boolean => from === to || TRANSITIONS[from].includes(to)

export const inCriticalSection = (phase: Phase): boolean => phase === 'cs-idle' || phase === 'cs-issuing'
