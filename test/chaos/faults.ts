/**
 * What can go wrong with one participant's process, and for how long. A fault is a promise: when it is
 * resolved, everything that it broke is whole again. schedule.ts decides which come together, so that no more
 * than a minority is broken at a time.
 */
import { sleep } from '../service/eventually.ts'
import type { Random } from '../simulator/random.ts'
import { CLIENT, type Machines, participantName, ROUTER } from './machines.ts'
import { type Condition, LOST } from './network.ts'

export interface FaultContext {
  readonly machines: Machines
  readonly random: Random
  /** Before a wipe, when the participant has been cut off: its record is collected now or never. */
  readonly beforeWipe: (id: number, quietSince: number) => Promise<void>
  /** Time to heal; `false` if it was not enough. */
  readonly afterWipe: () => Promise<boolean>
  /** A clock is wrong since this moment, or was until now. */
  readonly onSkew: (since: number) => void
  /** No majority is there, on purpose; and it is back. */
  readonly onMajorityLost: () => void
  readonly onMajorityBack: () => void
}

export type Fault = (victim: number, context: FaultContext) => Promise<void>

/** Sometimes too short for anybody to be suspected, sometimes long enough with any detector. */
function lasting(random: Random): Promise<void> {
  return sleep(random.logUniform(100, 6_000))
}

const kill: Fault = async (victim, { machines, random }) => {
  await machines.kill(participantName(victim))
  await lasting(random)
  await machines.start(participantName(victim))
}

const freeze: Fault = async (victim, { machines, random }) => {
  machines.signal(participantName(victim), 'SIGSTOP')
  await lasting(random)
  machines.signal(participantName(victim), 'SIGCONT')
}

const cut: Fault = async (victim, { machines: { network }, random }) => {
  const name = participantName(victim)
  network.mute(name, LOST)
  network.deafen(name, LOST)
  if (random.chance(0.5)) for (const link of network.of(name)) link.resetConnections()
  await lasting(random)
  network.healNode(name)
}

/** The others hear the victim, which does not hear them; or the other way round. */
const oneWayCut: Fault = async (victim, { machines: { network }, random }) => {
  const name = participantName(victim)
  if (random.chance(0.5)) network.mute(name, LOST)
  else network.deafen(name, LOST)
  await lasting(random)
  network.healNode(name)
}

const slow: Fault = async (victim, { machines: { network }, random }) => {
  const name = participantName(victim)
  const condition: Condition = { type: 'slow', ms: random.logUniform(5, 800) }
  network.mute(name, condition)
  if (random.chance(0.7)) network.deafen(name, condition)
  await lasting(random)
  network.healNode(name)
}

/** What the victim is asked is done, but the answers are lost or come when nobody waits for them any more. */
const lostAnswers: Fault = async (victim, { machines, random }) => {
  const { network } = machines
  const name = participantName(victim)
  const late: Condition = { type: 'slow', ms: random.between(1_000, 6_000) }
  const asking = network.of(name).filter(({ to }) => to === name)
  // The answers of the router to its clients, too: an acknowledgement is lost, and the operation asked for
  // again.
  for (const link of [...asking, network.link(CLIENT, ROUTER)])
    if (random.chance(0.6)) link.answers = random.chance(0.5) ? LOST : late
  await lasting(random)
  for (const link of network.of(name)) link.resetConnections()
  network.healNode(name)
  network.link(CLIENT, ROUTER).heal()
}

/**
 * A disk that takes no writes any more: under a process that runs, or right after its start, before it has
 * opened any object. (On such a disk workerd itself does not start, which is the same as a kill.)
 */
function brokenDisk(kind: 'read-only' | 'full'): Fault {
  return async (victim, { machines, random }) => {
    const name = participantName(victim)
    const restarts = random.chance(0.5)
    if (restarts) {
      await machines.kill(name)
      await machines.start(name)
    }
    machines.control(victim).breakDisk(kind)
    // Longer than other faults: an owner that cannot write must have the time to give something away.
    await sleep(random.logUniform(500, 8_000))
    machines.control(victim).breakDisk(null)
    // What an object opened read-only stays read-only, so mending a disk means starting the process again.
    if (restarts) {
      await machines.kill(name)
      await machines.start(name)
    }
  }
}

/**
 * The clock jumps, and later it jumps back. Up to a minute signatures still count; beyond, the victim is
 * alone.
 */
const skew: Fault = async (victim, { machines, random, onSkew }) => {
  const since = Date.now()
  onSkew(since)
  const ms = random.pick([500, 5_000, 20_000, 55_000, 3_600_000]) * random.pick([-1, 1])
  machines.control(victim).skewClock(ms)
  await lasting(random)
  machines.control(victim).skewClock(0)
  onSkew(since)
}

const CUT_OFF_MS = 300

/** Everything the participant knew is lost, and it has time to get it back before the next one is touched. */
async function wipeAndHeal(victim: number, context: FaultContext): Promise<boolean> {
  await cutOffAndWipe(victim, context)
  await lasting(context.random)
  await context.machines.start(participantName(victim))
  return context.afterWipe()
}

const wipe: Fault = async (victim, context) => {
  await wipeAndHeal(victim, context)
}

async function cutOffAndWipe(victim: number, { machines, beforeWipe }: FaultContext): Promise<void> {
  const name = participantName(victim)
  machines.network.mute(name, LOST)
  machines.network.deafen(name, LOST)
  const cutAt = Date.now()
  // By then, requests that were already inside the process are done, and no more can come.
  await sleep(CUT_OFF_MS)
  await beforeWipe(victim, cutAt)
  await machines.kill(name)
  await machines.wipe(victim)
  machines.network.healNode(name)
}

export type OrdinaryKind =
  | 'kill'
  | 'freeze'
  | 'cut'
  | 'one-way-cut'
  | 'slow'
  | 'lost-answers'
  | 'read-only'
  | 'full-disk'
  | 'skew'
  | 'wipe'

/** These can come together, each to another victim, as long as all victims are a minority. */
export const ORDINARY: { readonly [Kind in OrdinaryKind]: Fault } = {
  kill,
  freeze,
  cut,
  'one-way-cut': oneWayCut,
  slow,
  'lost-answers': lostAnswers,
  'read-only': brokenDisk('read-only'),
  'full-disk': brokenDisk('full'),
  skew,
  wipe,
}

/** These take a participant's storage away: never before the last such loss is healed. */
export const WIPES: readonly string[] = ['wipe', 'wipe-in-turn', 'wipe-while-others-are-away']

/** These need the compiled library. */
export const WITH_PRELOAD: readonly string[] = [
  ...['read-only', 'full-disk', 'skew', 'read-only-then-another-away'],
]

/** These decide by themselves who is broken, and nothing else may be meanwhile. */
export type WholeKind =
  | 'wipe-in-turn'
  | 'wipe-while-others-are-away'
  | 'read-only-then-another-away'
  | 'rolling-restart'
type WholeFault = (context: FaultContext) => Promise<void>

const wipeInTurn: WholeFault = async context => {
  const [first, second] = context.random.shuffled(context.machines.ids)
  // A second loss before the first one is healed is more than what a lock can bear.
  if (await wipeAndHeal(first!, context)) await wipeAndHeal(second!, context)
}

/**
 * A minority is away, with all it knows, while another one is wiped and comes back: those that are left are
 * no majority of those that knew something. The lock must wait for the ones that are away, and must not be
 * born again.
 */
const wipeWhileOthersAreAway: WholeFault = async context => {
  const { machines, random } = context
  const [wiped, ...rest] = random.shuffled(machines.ids)
  const away = rest.slice(0, machines.minority).map(participantName)
  context.onMajorityLost()
  await Promise.all(away.map(name => machines.kill(name)))
  await cutOffAndWipe(wiped!, context)
  await machines.start(participantName(wiped!))
  await sleep(random.between(500, 4_000))
  await Promise.all(away.map(name => machines.start(name)))
  context.onMajorityBack()
  await context.afterWipe()
}

/**
 * One that cannot write goes on for a while. When its disk is mended and its process starts again, another
 * one goes away: what the first one had said to that one must not have been in its memory alone.
 */
const readOnlyThenAnotherAway: WholeFault = async ({ machines, random }) => {
  const [first, second] = random.shuffled(machines.ids)
  const [name, other] = [participantName(first!), participantName(second!)]
  if (random.chance(0.5)) {
    await machines.kill(name)
    await machines.start(name)
  }
  machines.control(first!).breakDisk('read-only')
  await sleep(random.between(1_000, 4_000))
  machines.network.mute(other, LOST)
  machines.network.deafen(other, LOST)
  await machines.kill(name)
  machines.control(first!).breakDisk(null)
  await machines.start(name)
  await sleep(random.between(1_000, 5_000))
  machines.network.healNode(other)
}

/** One after the other onto the other build, the router too, some politely and some not. */
const rollingRestart: WholeFault = async ({ machines, random }) => {
  for (const name of [...random.shuffled(machines.ids).map(participantName), ROUTER]) {
    await (random.chance(0.5) ? machines.end(name) : machines.kill(name))
    await machines.start(name, machines.buildOf(name) === 'first' ? 'second' : 'first')
    await sleep(random.between(300, 1_200))
  }
}

export const WHOLE: { readonly [Kind in WholeKind]: WholeFault } = {
  'wipe-in-turn': wipeInTurn,
  'wipe-while-others-are-away': wipeWhileOthersAreAway,
  'read-only-then-another-away': readOnlyThenAnotherAway,
  'rolling-restart': rollingRestart,
}

export type FaultKind = OrdinaryKind | WholeKind
