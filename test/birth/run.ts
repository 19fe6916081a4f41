/** One run: a storm of faults, then calm, in which everything that can become usable must do so. */
import type { FoundedRecord, LedgerEntry } from '../../shared/birth/ledger-types.ts'
import type { Counts } from './checks.ts'
import { drawScenario, type Scenario } from './scenario.ts'
import { Violation } from './violation.ts'
import { type LedgerHost, type LockHost, World } from './world.ts'

export interface RunResult {
  readonly seed: number
  readonly steps: number
  readonly violation: { readonly rule: string; readonly message: string; readonly at: number } | null
  readonly counts: Counts
}

const CALM_MS = 180_000

export function runSeed(seed: number, print: ((line: string) => void) | null = null): RunResult {
  return runScenario(drawScenario(seed), print)
}

export function runScenario(scenario: Scenario, print: ((line: string) => void) | null = null): RunResult {
  const world = new World(scenario)
  world.print = print
  let violation: RunResult['violation'] = null
  try {
    storm(world)
    calm(world)
    world.checks.finish()
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const where = error.stack?.split('\n')[1]?.trim() ?? ''
    const isViolation = thrown instanceof Violation
    const rule = isViolation ? thrown.rule : 'thrown'
    violation = { rule, message: isViolation ? error.message : `${error.message} ${where}`, at: world.now }
  }
  return { seed: scenario.seed, steps: world.steps, violation, counts: world.checks.counts }
}

// ---------------------------------------------------------------- storm

function storm(world: World): void {
  const { scenario, random } = world
  for (let process = 1; process <= scenario.processes; process++)
    world.schedule(scenario.upAt[process - 1]!, () => world.start(process))
  for (let process = 1; process <= scenario.registrars; process++) {
    for (const host of world.participants[process]!) {
      const users = random.between(0, scenario.usersPerParticipant)
      for (let user = 0; user < users; user++)
        world.schedule(random.between(0, scenario.durationMs / 2), () => world.users.add(host, 3))
    }
  }
  for (const { at, process, lock, configuration } of scenario.configures) {
    world.schedule(at, () => {
      const host = participantOf(world, process, lock)
      world.step(host, { type: 'configure', now: world.now, request: `put-${world.steps}`, configuration })
    })
  }
  for (const { at, process, defaults } of scenario.deploys)
    world.schedule(at, () => world.deploy(process, defaults))
  repeatedly(world, scenario.stopEveryMs, () => stopSomebody(world))
  repeatedly(world, scenario.cutEveryMs, () => cutSomebody(world))
  repeatedly(world, scenario.wipeEveryMs, () => wipeSomething(world))
  world.runUntil(scenario.durationMs)
}

const participantOf = (world: World, process: number, lock: string): LockHost =>
  world.participants[process]!.find(host => host.lock === lock)!

function repeatedly(world: World, everyMs: number, happen: () => void): void {
  if (everyMs === 0) return
  world.schedule(world.random.exponential(everyMs), () => {
    if (!world.isStormy) return
    happen()
    repeatedly(world, everyMs, happen)
  })
}

function stopSomebody(world: World): void {
  const process = world.random.between(1, world.scenario.processes)
  if (!world.isUp[process]) return
  world.say(`process ${process} is stopped`)
  world.stop(process)
  world.schedule(world.random.logUniform(10, 4_000), () => world.start(process))
}

function cutSomebody(world: World): void {
  const { random, scenario } = world
  const process = random.between(1, scenario.processes)
  const isOneWay = random.chance(0.4)
  const cuts: string[] = []
  for (let other = 1; other <= scenario.processes; other++) {
    if (random.chance(0.3)) continue
    cuts.push(`${process}-${other}`)
    if (!isOneWay) cuts.push(`${other}-${process}`)
  }
  for (const cut of cuts) world.cuts.add(cut)
  world.schedule(random.logUniform(10, 3_000), () => {
    for (const cut of cuts) world.cuts.delete(cut)
  })
}

// ---------------------------------------------------------------- wipes

function wipeSomething(world: World): void {
  const { random, scenario } = world
  if (scenario.wipes === 'in-turn' && !isWhole(world)) return
  const process = random.between(1, scenario.registrars)
  if (random.chance(0.4)) {
    const host = random.pick(world.participants[process]!)
    if (host.storage.size === 0) return
    world.say(`${host.lock}/${process} is wiped`)
    world.checks.counts.objectWipes++
    return world.wipe(host)
  }
  if (isLastThatKnows(world, process)) return
  world.checks.counts.wipes++
  if (scenario.wipesLedgers && random.chance(0.5)) return world.wipeLedger(process)
  world.wipeProcess(process)
}

const recordOf = (world: World, process: number): FoundedRecord | null => {
  const record = world.ledgers[process]!.storage.get('ledger') as unknown as { status: string } | undefined
  return record?.status === 'founded' ? (record as FoundedRecord) : null
}

/** If all processes lose everything, nobody can tell. */
function isLastThatKnows(world: World, process: number): boolean {
  for (let other = 1; other <= world.scenario.registrars; other++)
    if (other !== process && recordOf(world, other) !== null) return false
  return recordOf(world, process) !== null
}

/** Everything that was lost has been given back. */
function isWhole(world: World): boolean {
  const { wounded } = world.checks
  if (wounded.size > 0) return false
  const founded = world.ledgers
    .slice(1, world.scenario.registrars + 1)
    .map(({ process }) => recordOf(world, process))
  // What is collected for the founding may be on its way: a majority of a founding must be left, too.
  if (founded.some(record => record === null)) return world.checks.counts.wipes === 0
  return founded.every(record => record?.isHealed === true) && world.ledgers.every(isFinished)
}

function isFinished({ storage }: LedgerHost): boolean {
  for (const [key, value] of storage) {
    const entry = value as unknown as LedgerEntry
    if (key.startsWith('lock/') && entry.lost > 0 && !entry.isFinished) return false
  }
  return true
}

// ---------------------------------------------------------------- calm

function calm(world: World): void {
  const { scenario } = world
  world.isStormy = false
  world.cuts.clear()
  world.say('calm')
  for (let process = 1; process <= scenario.processes; process++) world.start(process)
  for (const hosts of world.participants) for (const host of hosts) world.startParticipant(host)
  const last = world.participants
    .slice(1, scenario.registrars + 1)
    .flatMap(hosts => hosts.map(host => world.users.add(host, 1)))
  const isDone = () => world.users.all.every(({ phase }) => phase === 'done' || phase === 'gone')
  const end = world.now + (scenario.wipes === 'wild' ? CALM_MS / 6 : CALM_MS)
  world.runUntil(end, isDone)
  world.checks.counts.usable = last.filter(({ phase }) => phase === 'done').length
  if (scenario.wipes === 'wild' || isDone()) return
  const waiting = world.users.all.filter(({ phase }) => phase !== 'done' && phase !== 'gone')
  const who = waiting.map(({ name, phase, host }) => `${name} at ${host.lock}/${host.process} is ${phase}`)
  throw new Violation('usable', `after ${CALM_MS} ms of calm ${who.join(', ')}`)
}
