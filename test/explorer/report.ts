/** What a search says when it is over: as JSON, and as text. */
import { type Bound, FAULTS } from './bound.ts'
import type { Rung } from './ladder.ts'
import { coverageGoalsOf, type ExploredName } from './models.ts'
import { BOUNDS, REDUCTIONS } from './reductions.ts'
import type { SearchResult } from './search.ts'

/** One search, without what cannot be sent from one thread to another. */
export interface RungReport {
  readonly name: string
  readonly bound: Bound
  readonly states: number
  readonly transitions: number
  readonly complete: boolean
  /** All worlds with at most this many faults were visited; -1: not even those without. */
  readonly completeFaults: number
  readonly stopped: SearchResult['stopped']
  readonly violations: number
  readonly seconds: number
  readonly participantStates: number
  readonly coreSteps: number
  readonly progressChecks: number
}

export interface ProtocolReport {
  readonly protocol: ExploredName
  readonly bound: Bound
  readonly states: number
  readonly transitions: number
  readonly complete: boolean
  readonly completeFaults: number
  readonly stopped: SearchResult['stopped']
  readonly violations: number
  readonly violation: (NonNullable<SearchResult['violation']> & { readonly rung: string }) | null
  readonly seconds: number
  /** The probability that some world was taken for another and not looked at. */
  readonly collisionProbability: number
  readonly coverageGoals: { readonly [name: string]: boolean }
  readonly reductions: readonly string[]
  readonly ladder: readonly RungReport[]
}

export interface RungOutcome {
  readonly isWhole: boolean
  readonly report: RungReport
  readonly violation: SearchResult['violation']
  readonly reached: readonly string[]
}

export function outcomeOf({ name, bound, isWhole }: Rung, result: SearchResult): RungOutcome {
  const { states, transitions, complete, completeFaults, stopped, seconds } = result
  return {
    isWhole,
    report: {
      name,
      bound,
      states,
      transitions,
      complete,
      completeFaults,
      stopped,
      violations: result.violation === null ? 0 : 1,
      seconds: round(seconds),
      participantStates: result.seats,
      coreSteps: result.steps,
      progressChecks: result.settled,
    },
    violation: result.violation,
    reached: [...result.reached],
  }
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100

/** The figures are those of the last rung of the whole bound that was begun; all else is in `ladder`. */
export function reportOf(
  protocol: ExploredName,
  bound: Bound,
  outcomes: readonly RungOutcome[],
): ProtocolReport {
  const wholes = outcomes.filter(({ isWhole }) => isWhole).map(({ report }) => report)
  const whole = wholes.at(-1)
  const broken = outcomes.find(({ violation }) => violation !== null)
  const reached = new Set(outcomes.flatMap(outcome => outcome.reached))
  const largest = Math.max(...outcomes.map(({ report }) => report.states))
  return {
    protocol,
    bound,
    states: whole?.states ?? 0,
    transitions: whole?.transitions ?? 0,
    complete: whole?.complete === true && whole.bound.faults === bound.faults,
    completeFaults: Math.max(-1, ...wholes.map(({ completeFaults }) => completeFaults)),
    stopped: whole?.stopped ?? 'violation',
    violations: outcomes.reduce((sum, { report }) => sum + report.violations, 0),
    violation: broken === undefined ? null : { ...broken.violation!, rung: broken.report.name },
    seconds: round(outcomes.reduce((sum, { report }) => sum + report.seconds, 0)),
    collisionProbability: largest ** 2 / 2 ** 64,
    coverageGoals: Object.fromEntries(coverageGoalsOf(protocol).map(name => [name, reached.has(name)])),
    reductions: [...REDUCTIONS, ...BOUNDS],
    ladder: outcomes.map(({ report }) => report).filter(report => report !== whole),
  }
}

// ---------------------------------------------------------------- text

export function describeBound(bound: Bound): string {
  const { participants, newcomers, users, readers, tries, operations, changes, order, lag, ballots } = bound
  const faults = FAULTS.filter(name => bound[name] > 0).map(name => `${name} ${bound[name]}`)
  return [
    `N = ${participants - newcomers}`,
    ...(newcomers > 0 ? [`newcomers ${newcomers}`] : []),
    ...(changes > 0 ? [`changes ${changes}`] : []),
    `users at ${users.join(' and ')}`,
    ...(readers.length === 0 ? [] : [`readers at ${readers.join(' and ')}`]),
    `tries ${tries}`,
    `operations ${operations}`,
    ...(faults.length === 0 ? ['no faults'] : faults),
    ...(order === 'none' ? ['links without order'] : []),
    ...(lag > 0 ? [`lag ${lag}`] : []),
    ...(bound.suspicions > 0 ? [`ballots ${ballots}`] : []),
  ].join(', ')
}

export function describeRung(protocol: ExploredName, report: RungReport): string {
  const { name, bound, states, transitions, complete, seconds, completeFaults, stopped } = report
  const rate = Math.round(transitions / Math.max(seconds, 0.01))
  const end = complete
    ? 'complete'
    : `NOT complete (${stopped}${completeFaults < 0 ? '' : `; complete up to ${completeFaults} faults`})`
  const figures = `${states.toLocaleString('en')} states, ${seconds} s, ${rate.toLocaleString('en')} transitions/s`
  return `${protocol} ${name} [${describeBound(bound)}]: ${end}, ${figures}, ${report.violations} violations`
}

export function describeReport(report: ProtocolReport): string {
  const lines = [`${report.protocol}: ${report.violations} violations, ${report.seconds} s`]
  for (const [name, isReached] of Object.entries(report.coverageGoals)) {
    lines.push(`  reached ${isReached ? 'yes' : 'NO '} ${name}`)
  }
  if (report.violation !== null) {
    const { property, detail, trace, rung } = report.violation
    lines.push(`VIOLATION (${rung}): ${property}`, `  ${detail}`, ...trace.map(step => `  ${step}`))
  }
  return lines.join('\n')
}
