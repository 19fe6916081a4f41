/**
 * One run: the phase with faults, healing, progress, silence, and the judge. The same options and seed give
 * the same run.
 */
import type { History } from '../../shared/history/events.ts'
import { judge } from '../../shared/history/judge.ts'
import { wmeConsensus } from '../../shared/protocols/wme-consensus/wme-consensus.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { Askers } from './askers.ts'
import { Client } from './client.ts'
import { consensusSubject } from './consensus-subject.ts'
import { type Counts, zeroCounts } from './counts.ts'
import { FaultInjector } from './fault-injector.ts'
import { Healing } from './healing.ts'
import { maekawaSubject, ricartAgrawalaSubject } from './lock-only-subject.ts'
import { MemberChanges } from './members/member-changes.ts'
import { Random } from './random.ts'
import { drawScenario, type RunOptions, STREAM } from './scenario.ts'
import type { Subject } from './subject.ts'
import { type Print, Transcript } from './transcript.ts'
import { plainOf, type Variant } from './variant.ts'
import { type VerdictKind, Violation } from './violation.ts'
import { wmeSubject } from './wme-subject.ts'
import { World } from './world.ts'

export interface RunResult {
  readonly seed: number
  readonly verdict: VerdictKind
  readonly violation: ViolationReport | null
  readonly steps: number
  readonly counts: Counts
  /** The hash of everything that happened: equal runs have equal hashes. */
  readonly transcriptHash: string
  readonly history: History
}

export interface ViolationReport {
  readonly kind: Exclude<VerdictKind, 'ok'>
  readonly rule: string
  readonly message: string
  /** In virtual milliseconds. */
  readonly at: number
}

export function runSeed(options: RunOptions, seed: number, print: Print | null = null): RunResult {
  switch (options.protocol) {
    case 'wme-1':
    case 'wme-2':
      return runSubject(wmeSubject(options.protocol), options, seed, print)
    case 'wme-consensus':
      return runSubject(consensusSubject(wmeConsensus), options, seed, print)
    case 'ricart-agrawala':
      return runSubject(ricartAgrawalaSubject(), options, seed, print)
    case 'maekawa':
      return runSubject(maekawaSubject(), options, seed, print)
  }
}

/** Works for any protocol: tests give it broken ones. Whoever wants more than lines brings a transcript. */
export function runSubject<State, Message>(
  subject: Subject<State, Message>,
  options: RunOptions,
  seed: number,
  print: Print | null,
  transcript = new Transcript(print),
): RunResult {
  const scenario = drawScenario(options, seed, variantOf(subject, options, seed))
  let world: World<State, Message> | null = null
  let violation: ViolationReport | null = null
  try {
    world = new World(scenario, subject, keyValue, transcript)
    live(world)
    world.checks.finished()
    judgeHistory(world.recorder.history)
  } catch (thrown) {
    violation = reportOf(thrown, world?.now ?? 0)
    transcript.note(world?.now ?? 0, 0, `VIOLATION of ${violation.rule}: ${violation.message}`)
  }
  return {
    seed,
    verdict: violation?.kind ?? 'ok',
    violation,
    steps: world?.interpreter.steps ?? 0,
    counts: world?.counts ?? zeroCounts(),
    transcriptHash: transcript.hash,
    history: world?.recorder.history ?? { header: emptyHeader(options), events: [] },
  }
}

export function variantOf<State, Message>(
  subject: Subject<State, Message>,
  options: RunOptions,
  seed: number,
): Variant {
  const variant = subject.drawVariant(
    new Random(seed, STREAM.variant),
    options.participants,
    options.members === true,
  )
  return options.plain === true ? plainOf(variant) : variant
}

const emptyHeader = ({ protocol, participants }: RunOptions) =>
  ({ format: 1, protocol, participants, resource: keyValue.name, resultsKept: 0 }) as const

function live<State, Message>(world: World<State, Message>): void {
  const { scenario } = world
  const { variant } = scenario
  if (variant.options !== null) world.transcript.note(0, 0, `options ${JSON.stringify(variant.options)}`)
  const random = new Random(scenario.seed, STREAM.clients)
  const born = world.participants.slice(1, scenario.options.participants + 1)
  for (const participant of born) world.life.start(participant)
  world.calm.begin()
  for (const [participant, users] of scenario.users.entries()) {
    for (let seat = 1; seat <= users; seat++) {
      const client = new Client(world.clients.length, participant, seat, world, random, scenario.clients)
      world.clients.push(client)
      // The users of a machine that comes later come with it.
      if (participant > born.length) continue
      const arrivesAt = scenario.arrivals[participant]!
      if (arrivesAt === 0) client.sitDown()
      else world.after(arrivesAt, () => client.sitDown())
    }
  }
  new FaultInjector(world)
  if (world.sets !== null) world.changes = new MemberChanges(world, world.sets)
  const askers = new Askers(world)
  askers.readUntil(scenario.durationMs)
  world.runUntil(scenario.durationMs)
  new Healing(world, askers).run()
}

/**
 * A property that cannot be judged is a defect of the recording, except starvation behind a user that never
 * leaves.
 */
function judgeHistory(history: History): void {
  const { properties } = judge(history, keyValue)
  for (const { name, kind, verdict, evidence } of properties) {
    if (verdict === 'valid') continue
    const [first] = evidence
    const events = (first?.events ?? []).map(({ event }) => JSON.stringify(event)).join(' ')
    throw new Violation(
      verdict === 'invalid' ? kind : 'defect',
      name,
      `${first?.message ?? verdict}: ${events}`,
    )
  }
}

function reportOf(thrown: unknown, at: number): ViolationReport {
  if (thrown instanceof Violation) {
    return { kind: thrown.kind, rule: thrown.rule, message: thrown.message, at }
  }
  const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown))
  const where =
    stack
      ?.split('\n')[1]
      ?.trim()
      .replace(/^at (\S+ ).*\/([^/]+)$/, 'at $1($2') ?? ''
  return { kind: 'defect', rule: 'thrown', message: `${message} ${where}`, at }
}
