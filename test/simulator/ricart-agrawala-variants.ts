/**
 * The choices that Ricart and Agrawala's paper offers (sections 6 and 7), each with what it still claims.
 * Those that take silence for an answer need a network and processes that keep their time.
 */
import type { ProtocolOptions } from '../../shared/protocols/protocol.ts'
import type { Random } from './random.ts'
import { type Claims, LOCK_ONLY_CLAIMS, type Variant, without } from './variant.ts'

/** Participants may leave the group and come back (7.2, 7.3). */
const PLAIN: Claims = {
  ...LOCK_ONLY_CLAIMS,
  faults: [...LOCK_ONLY_CLAIMS.faults, 'leavers'],
  readers: true,
}

/** Nothing is lost or late, and no process stands still: silence means what it is taken for. */
const IN_TIME = without(PLAIN, 'loss', 'delays', 'partitions', 'one-way', 'pauses')

/**
 * A message takes at most 20 ms, and a clock may be a quarter too fast: 40 ms of the world are 50 ms of its
 * own. See `drawScenario` for both.
 */
const ROUND_TRIP_MS = 60

export function drawRicartAgrawala(random: Random, participants: number, isChanging: boolean): Variant {
  const options = random.chance(0.25) ? {} : drawOptions(random, participants, isChanging)
  if (Object.keys(options).length === 0) return { options: null, claims: PLAIN, plain: PLAIN }
  return { options, claims: claimsOf(options, isChanging), plain: PLAIN }
}

function drawOptions(random: Random, participants: number, isChanging: boolean): ProtocolOptions {
  const ring = random.pick([undefined, undefined, 'waiting', 'marking'] as const)
  const drawn = drawNumbers(random, participants)
  // With bounded numbers the members stay (6.4).
  const numbers = isChanging && drawn.modulus !== undefined ? {} : drawn
  const names = random.chance(0.3) ? drawNames(random, participants) : undefined
  const silence = ring === undefined ? random.below(4) : 3
  return {
    ...numbers,
    ...(ring && { ring }),
    ...(names && { names }),
    ...(silence === 0 && {
      implicitReply: { roundTripMs: ROUND_TRIP_MS, assumeNothingIsLostOrLate: true },
    }),
    ...(silence === 1 && numbers.modulus === undefined && { declareDeadAfterMs: random.between(400, 1_000) }),
  }
}

function drawNumbers(random: Random, participants: number): Pick<ProtocolOptions, 'modulus' | 'increment'> {
  switch (random.below(4)) {
    case 0:
      return { modulus: 2 * participants - 1 + random.below(4) }
    case 1:
      return { increment: { type: 'random', most: random.between(2, 5) } }
    case 2: {
      const by = Array.from({ length: participants }, () => random.between(1, 3))
      return { increment: { type: 'priority', by } }
    }
    default:
      return {}
  }
}

const drawNames = (random: Random, participants: number): number[] =>
  random.shuffled(Array.from({ length: participants }, (_, index) => 1 + 7 * index))

/**
 * With bounded numbers all are writers (6.4). A silent participant that only crashed holds what it holds
 * (6.1). A participant that was declared dead (7.4) learns it from those that know the group, or knew it when
 * they left. If all that it knows were down when it comes back, it would declare them dead in turn; so those
 * that crash are never a group of their own. Where members come and go, any of them may be, so none crashes.
 */
function claimsOf(
  { implicitReply, declareDeadAfterMs, modulus }: ProtocolOptions,
  isChanging: boolean,
): Claims {
  if (implicitReply !== undefined) return readersIf(modulus === undefined, without(IN_TIME, 'crashes'))
  if (declareDeadAfterMs !== undefined)
    return isChanging ? without(IN_TIME, 'crashes') : { ...IN_TIME, mostNeverCrash: true }
  return readersIf(modulus === undefined, PLAIN)
}

const readersIf = (readers: boolean, claims: Claims): Claims => ({ ...claims, readers })
