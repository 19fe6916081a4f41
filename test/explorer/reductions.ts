/**
 * How the search gets by with fewer worlds than there are. A reduction leaves nothing out that could break a
 * property, and the file that is named says why. A bound does leave something out, and says what.
 */

export const REDUCTIONS: readonly string[] = [
  'steps of different participants commute: a world is expanded by a closed set of movers (movers.ts)',
  'while a participant is down, all are looked at: messages to it are lost (movers.ts)',
  'soft counters that only measure time, or that nobody reads, are one value (normalise.ts)',
  'known worlds by fingerprints of 63 bits; the probability of a mistake is reported (fingerprint.ts)',
]

export const BOUNDS: readonly string[] = [
  'messages to a participant that is down are lost; a crash may lose the last messages of each link to it',
  'repeat fires when nothing is in flight and something was lost, a participant crashed or no user can act',
  'an operator waits for ever: nobody gives up a newcomer that is silent',
  'propose fires when nothing is in flight, for at most --ballots rounds of an epoch',
  'heartbeat, and timers that fire though something is in flight, only within --hurries',
  'a step that makes a link longer than --lag waits until its receiver has read',
  'progress is tried by one fair run from each quiet world, until it is through or goes around in a circle',
]
