/**
 * ◇P, the eventually perfect failure detector (section 2 of the paper), as bookkeeping without a clock.
 *
 * A participant that needs a peer pings it now and then. A peer that leaves a ping unanswered for
 * `timeoutOf(peer)` is suspected. Completeness: a crashed peer answers nothing. Accuracy is eventual, by
 * these rules:
 *   T1  The time-out is a multiple of the measured round trips and of their spread, between a floor and the
 *       configured time. Each time a suspected peer is heard after all, both grow by half, and neither falls
 *       again in this life. So a peer whose answers take at most some time, whatever it is, is wrongly
 *       suspected only a limited number of times: log₁.₅(longest / first time-out) times. A time-out that
 *       follows the round trips alone, or whose growth is taken back, is wrong without end.
 *   T2  A suspicion lasts until the peer is heard. If it ended with the epoch, nobody would learn that it was
 *       a mistake.
 *   T3  A round trip counts only if the answer names its ping, so that a late or doubled answer to an earlier
 *       one does not. A peer that was not heard for a while has to be loaded first: the configured time-out
 *       applies until it is heard, and no answer to what it was asked before that counts. One that was heard,
 *       whatever it said, is loaded. As long as no ping of it was measured, the time that it takes to
 *       acknowledge entries stands for its round trips, and without that a part of the configured time-out,
 *       which is longer than any round trip on earth.
 *   T4  Nobody is watched without need, and for another participant's need only for a while. So a lock that
 *       nobody waits for costs no ping.
 *   T5  The floor is above the pauses of a process that is well, because all that wait suspect at once.
 *
 * What the transport says about a peer is not a matter of time: if it was wrong, no time-out was too short.
 */
import type { Timing } from './protocols/protocol.ts'

/** Plain JSON. Indexed by participant; index 0 is unused. */
export type Detector = Peer[]

export interface Peer {
  /** `late`: it left a ping unanswered for too long. `unreachable`: so the transport says. */
  suspected: 'late' | 'unreachable' | null
  /** How often it was suspected as late, and then heard. */
  mistakes: number
  /** `samples` stops counting when there are enough; 0: it was not measured by pings (`noteUsual`). */
  roundTrip: { smoothedMs: number; variationMs: number; samples: number } | null
  /** When it last answered a ping; `null`: never in this life. */
  answeredAt: number | null
  /** When it was last heard, whatever it said; `null`: never in this life. */
  heardAt: number | null
  /** Since when it has been heard without a long silence. */
  awakeSince: number | null
  /** When the pings were sent that it has not answered, oldest first. A ping is named by this time. */
  asked: number[]
}

export type Cause = NonNullable<Peer['suspected']>

const GROWTH = 1.5
const MULTIPLE = 4
/** The weights of a new sample, as TCP has them (RFC 6298). */
const SMOOTHING = 1 / 8
const SMOOTHING_OF_VARIATION = 1 / 4
/** The time-out shrinks at most to this part of the configured one. */
const LEAST_PART = 1 / 8
/** That of a peer that is awake, and of which no round trip is known, is this part. */
const UNMEASURED_PART = 1 / 4
/** A peer is pinged this often before its time is over, so that one lost message proves nothing. */
const PINGS_IN_TIME = 4
/** A Durable Object that nobody calls for this long may be put away, and has to be loaded again. */
const IDLE_MS = 10_000
const MAX_ASKED = 16
/** From so many round trips on, their variation says something. */
const ENOUGH_SAMPLES = 4

const newPeer = (): Peer => ({
  suspected: null,
  mistakes: 0,
  roundTrip: null,
  answeredAt: null,
  heardAt: null,
  awakeSince: null,
  asked: [],
})

export const createDetector = (participants: number): Detector =>
  Array.from({ length: participants + 1 }, newPeer)

/** Participants up to this number may be watched. */
export function growDetector(detector: Detector, participants: number): void {
  while (detector.length <= participants) detector.push(newPeer())
}

// ---------------------------------------------------------------- times

/** How long this peer may leave a ping unanswered. What counts is whether it was awake when it was asked. */
export function timeoutOf(detector: Detector, peer: number, timing: Timing, now: number): number {
  const known = detector[peer]!
  const mostMs = grown(known, timing.timeoutMs, timing)
  if (!isHeard(known, known.asked[0] ?? now)) return mostMs
  const usualMs =
    known.roundTrip === null
      ? grown(known, timing.timeoutMs * UNMEASURED_PART, timing)
      : Math.ceil(MULTIPLE * expectedMs(known.roundTrip))
  return Math.min(mostMs, Math.max(floorOf(known, timing), usualMs))
}

/**
 * How long to wait before the next ping. One that is not answered is soon followed by others. A peer that was
 * left alone is not pinged before it could have answered anyway, because mostly it does: the token comes, and
 * nobody waits any longer. As long as few round trips are known, the pings come quickly, so that enough are.
 */
export function pauseOf(detector: Detector, peer: number, timing: Timing, now: number): number {
  const { suspected, asked, roundTrip } = detector[peer]!
  if (suspected !== null) return timing.heartbeatMs
  const timeoutMs = timeoutOf(detector, peer, timing, now)
  const floorMs = floorOf(detector[peer]!, timing)
  const pauseMs = () => {
    if (asked.length > 0) return timeoutMs / PINGS_IN_TIME
    if (isAnswering(detector[peer]!, now))
      return (roundTrip?.samples ?? 0) < ENOUGH_SAMPLES ? floorMs / PINGS_IN_TIME : timeoutMs
    return Math.max(floorMs / 2, answerMs(detector, peer))
  }
  return Math.min(timing.heartbeatMs, Math.ceil(pauseMs()))
}

/** How long an answer of this peer takes, give or take; 0 if that is not known. */
export function answerMs(detector: Detector, peer: number): number {
  const { roundTrip } = detector[peer]!
  return roundTrip === null ? 0 : Math.ceil(expectedMs(roundTrip))
}

const expectedMs = ({ smoothedMs, variationMs }: NonNullable<Peer['roundTrip']>): number =>
  smoothedMs + 4 * variationMs

function floorOf(peer: Peer, timing: Timing): number {
  const { timeoutMs, timeoutMinMs } = timing
  return grown(peer, Math.min(timeoutMs, Math.max(timeoutMinMs, timeoutMs * LEAST_PART)), timing)
}

/** What a time has become by the mistakes. */
const grown = ({ mistakes }: Peer, timeMs: number, timing: Timing): number =>
  Math.min(longestOf(timing), Math.ceil(timeMs * GROWTH ** mistakes))

const longestOf = ({ timeoutMs, timeoutMaxMs }: Timing): number => Math.max(timeoutMs, timeoutMaxMs)

const isAnswering = ({ answeredAt }: Peer, now: number): boolean => isRecent(answeredAt, now)

/** Whether this peer is certainly loaded. */
const isHeard = ({ heardAt }: Peer, now: number): boolean => isRecent(heardAt, now)

const isRecent = (time: number | null, now: number): boolean => time !== null && now - time <= IDLE_MS

// ---------------------------------------------------------------- pings and answers

/** Nothing that was asked before matters to what begins now. */
export function beginAsking(detector: Detector, peer: number): void {
  detector[peer]!.asked = []
}

export const isUnanswered = (detector: Detector, peer: number): boolean => detector[peer]!.asked.length > 0

/** Whether the peer has left a ping unanswered for too long. */
export function isOverdue(detector: Detector, peer: number, timing: Timing, now: number): boolean {
  const [oldest] = detector[peer]!.asked
  return oldest !== undefined && now - oldest >= timeoutOf(detector, peer, timing, now)
}

/** A ping leaves now. Returns its name, which the answer repeats. */
export function noteAsked(detector: Detector, peer: number, now: number): number {
  const { asked } = detector[peer]!
  if (asked.at(-1) !== now) asked.push(now)
  // The oldest stays: it says since when the peer owes an answer.
  if (asked.length > MAX_ASKED) asked.splice(1, 1)
  return now
}

/**
 * The peer answers this ping, and with it those before. An answer that came after the suspicion is a mistake,
 * which `heard` counts, and not a sample besides: it would say how long the peer stood still.
 */
export function noteAnswered(detector: Detector, peer: number, ping: number, now: number): void {
  const known = detector[peer]!
  const place = known.asked.indexOf(ping)
  if (place === -1) return
  known.asked.splice(0, place + 1)
  const wasAwake = isHeard(known, now) && ping >= known.awakeSince!
  if (wasAwake && known.suspected === null) addSample(known, Math.max(0, now - ping))
  known.answeredAt = now
  noteHeard(detector, peer, now)
}

/** A message of this peer has come, and what it says has been noted. */
export function noteHeard(detector: Detector, peer: number, now: number): void {
  const known = detector[peer]
  if (known === undefined) return
  // A clock that is set back does not make what was asked since then too early.
  known.awakeSince = isHeard(known, now) ? Math.min(known.awakeSince!, now) : now
  known.heardAt = now
}

/** The peer takes so long to answer something else than a ping. It counts until a ping is measured. */
export function noteUsual(detector: Detector, peer: number, usualMs: number): void {
  const known = detector[peer]!
  if ((known.roundTrip?.samples ?? 0) === 0) known.roundTrip = firstOf(usualMs, 0)
}

const firstOf = (sampleMs: number, samples: number): NonNullable<Peer['roundTrip']> => ({
  smoothedMs: sampleMs,
  variationMs: sampleMs / 2,
  samples,
})

function addSample(peer: Peer, sampleMs: number): void {
  if (peer.roundTrip === null || peer.roundTrip.samples === 0) {
    peer.roundTrip = firstOf(sampleMs, 1)
    return
  }
  const { smoothedMs, variationMs, samples } = peer.roundTrip
  const deviationMs = Math.abs(sampleMs - smoothedMs)
  peer.roundTrip = {
    smoothedMs: smoothedMs + SMOOTHING * (sampleMs - smoothedMs),
    variationMs: variationMs + SMOOTHING_OF_VARIATION * (deviationMs - variationMs),
    samples: Math.min(samples + 1, ENOUGH_SAMPLES),
  }
}

// ---------------------------------------------------------------- suspicions

export const isSuspected = (detector: Detector, peer: number): boolean => detector[peer]!.suspected !== null

export const suspectsOf = (detector: Detector): number[] =>
  detector.flatMap(({ suspected }, peer) => (suspected === null ? [] : [peer]))

export function suspect(detector: Detector, peer: number, cause: Cause): void {
  detector[peer]!.suspected ??= cause
}

/**
 * A sign of life. A suspicion that it refutes was a mistake, and makes the detector more patient with this
 * peer, up to the longest time-out.
 */
export function heard(detector: Detector, peer: number, timing: Timing): void {
  const known = detector[peer]!
  if (known.suspected === 'late' && floorOf(known, timing) < longestOf(timing)) known.mistakes++
  known.suspected = null
}
