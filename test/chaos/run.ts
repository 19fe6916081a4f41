/** One run: start, idle locks, faults under load, healing, the check of everything, and what came of it. */
import { appendFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sleep } from '../service/eventually.ts'
import { Random } from '../simulator/random.ts'
import { type FaultContext, type FaultKind, WITH_PRELOAD } from './faults.ts'
import { checkAll, type LockVerdict } from './final-check.ts'
import { ChaosHistories } from './histories.ts'
import { Machines } from './machines.ts'
import { Population } from './population.ts'
import { disturb } from './schedule.ts'

export interface RunOptions {
  readonly minutes: number
  readonly participants: number
  readonly seed: number
  readonly kinds: readonly FaultKind[]
  readonly print: (line: string) => void
}

interface Health {
  readonly ledger?: { readonly healed: boolean; readonly unfinishedLocks: number }
}

export interface RunResult {
  readonly acknowledged: number
  readonly locks: number
  readonly lost: readonly string[]
  readonly twice: readonly string[]
  readonly failedButApplied: readonly string[]
  readonly bricked: readonly string[]
  readonly fences: readonly string[]
  readonly disordered: readonly string[]
  readonly misconfigured: readonly string[]
  readonly stuck: readonly string[]
  readonly historiesJudged: number
  readonly historyViolations: readonly string[]
  readonly leftoverProcesses: number
  readonly faults: { readonly [kind: string]: number }
  readonly skipped: string | null
  readonly longestStallMs: number
  /** Logs, storage, histories and what happened when; kept if something is wrong. */
  readonly evidence: string | null
}

/** For a process that lost its storage, to get back what it had, also of locks that nobody uses. */
/** For so long an object may be in memory after its last event. */
const IN_MEMORY_MS = 120_000
const LONGEST_HEAL_MS = 60_000
/** Clients that vanished are forgotten by then: their time to live and their time to wait are over. */
const SETTLE_MS = 6_000
const PROGRESS_EVERY_MS = 10_000

export async function runChaos(options: RunOptions): Promise<RunResult> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-chaos-'))
  const machines = await Machines.start(options.participants, folder)
  const onExit = () => machines.killAtOnce()
  process.once('exit', onExit)
  try {
    const run = new Run(options, folder, machines)
    const result = await run.perform()
    if (result.evidence === null) await rm(folder, { recursive: true, force: true })
    return result
  } finally {
    await machines.stop()
    process.off('exit', onExit)
  }
}

class Run {
  private readonly options: RunOptions
  private readonly folder: string
  private readonly machines: Machines
  private readonly population: Population
  private readonly histories: ChaosHistories
  private readonly faults: { [kind: string]: number } = {}
  private readonly startedAt = Date.now()

  constructor(options: RunOptions, folder: string, machines: Machines) {
    this.options = options
    this.folder = folder
    this.machines = machines
    this.population = new Population(machines, options.seed)
    this.histories = new ChaosHistories(machines.observerUrl)
    this.population.onRetired = ({ name }) => void this.histories.collect(name)
  }

  async perform(): Promise<RunResult> {
    const { machines, population } = this
    await population.createIdle()
    population.start()
    const until = Date.now() + this.options.minutes * 60_000
    const progress = setInterval(
      () => this.note(`${population.acknowledged} acknowledged`),
      PROGRESS_EVERY_MS,
    )
    try {
      await disturb({
        context: this.context(),
        kinds: this.options.kinds,
        mayWipe: () => this.waitForHealing(),
        isOver: () => Date.now() >= until,
        onFault: (kind, victim) => {
          this.faults[kind] = (this.faults[kind] ?? 0) + 1
          this.note(victim === null ? kind : `${kind} of participant ${victim}`)
        },
      })
    } finally {
      clearInterval(progress)
    }
    this.note('everything is healed; the clients finish what they are at')
    machines.network.heal()
    await population.stop()
    const verdicts = await checkAll(machines, population)
    const judged = await this.judgeHistories()
    const leftoverProcesses = await machines.stop()
    return this.result(verdicts, judged, leftoverProcesses)
  }

  private context(): FaultContext {
    const { machines, population, histories } = this
    return {
      machines,
      random: new Random(this.options.seed, 1),
      beforeWipe: async (id, cutAt) => {
        await Promise.all(population.restless.map(({ name }) => histories.collect(name)))
        for (const { name, quietSince } of population.locks)
          histories.wiped(name, id, Math.min(cutAt, quietSince))
      },
      afterWipe: () => this.waitForHealing(),
      onSkew: since => {
        // A lock may have been born and have retired meanwhile. And an object that is still in memory never
        // lets its time go back: what is asked of it later has the time of the wrong clock.
        for (const { name, isBusy, lastActivityAt } of population.locks)
          if (isBusy || lastActivityAt >= since - IN_MEMORY_MS) histories.spoil(name, 'a clock was wrong')
      },
      onMajorityLost: () => this.note('no majority, on purpose'),
      onMajorityBack: () => population.forgiveStalls(),
    }
  }

  /** As an operator waits before the next machine is replaced (docs/deploy.md). */
  private async waitForHealing(): Promise<boolean> {
    const until = Date.now() + LONGEST_HEAL_MS
    let missing = await this.notHealed()
    while (missing.length > 0 && Date.now() < until) {
      await sleep(500)
      missing = await this.notHealed()
    }
    if (missing.length > 0) this.note(`nothing more is wiped for now: ${missing.join('; ')}`)
    return missing.length === 0
  }

  /**
   * Each process says that it has healed and is back in all of its locks, and each lock in use can be read at
   * each participant.
   */
  private async notHealed(): Promise<string[]> {
    const { ids } = this.machines
    const healths = await Promise.all(ids.map(id => this.healthOf(id)))
    const missing = healths.filter(health => health !== null)
    if (missing.length > 0) return missing
    const places = this.population.busy.flatMap(({ name }) => ids.map(id => ({ name, id })))
    const unread = await Promise.all(
      places.map(async ({ name, id }) => ((await this.canRead(name, id)) ? [] : [`${name} at ${id}`])),
    )
    return unread.flat().map(place => `${place} cannot be read`)
  }

  /** What keeps the process from being whole; `null`: nothing. */
  private async healthOf(id: number): Promise<string | null> {
    const url = this.machines.ownUrlOf(id)
    if (url === null) return `process ${id} is down`
    try {
      const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(3_000) })
      const { ledger } = (await response.json()) as Health
      const { healed, unfinishedLocks } = ledger!
      if (!healed) return `process ${id} has not healed`
      return unfinishedLocks === 0 ? null : `process ${id} has ${unfinishedLocks} locks to finish`
    } catch {
      return `process ${id} does not say how it is`
    }
  }

  private async canRead(lock: string, id: number): Promise<boolean> {
    try {
      const url = `${this.machines.observerUrl}/v1/locks/${lock}/state/count?at=${id}`
      const { status } = await fetch(url, { signal: AbortSignal.timeout(3_000) })
      return status === 200 || status === 404
    } catch {
      return false
    }
  }

  private async judgeHistories(): Promise<{ judged: number; violations: string[] }> {
    await sleep(SETTLE_MS)
    const violations: string[] = []
    let judged = 0
    for (const { name } of this.population.locks) {
      await this.histories.collect(name)
      const found = this.histories.judge(name, this.machines.ids)
      if (found === null) continue
      judged++
      if (found.length === 0) continue
      violations.push(...found.map(violation => `${name}: ${violation}`))
      await mkdir(join(this.folder, 'histories'), { recursive: true })
      await writeFile(join(this.folder, 'histories', `${name}.jsonl`), this.histories.asText(name))
    }
    return { judged, violations }
  }

  private async result(
    verdicts: readonly LockVerdict[],
    { judged, violations }: { readonly judged: number; readonly violations: readonly string[] },
    leftoverProcesses: number,
  ): Promise<RunResult> {
    const { preload } = this.machines
    const all = (pick: (verdict: LockVerdict) => readonly string[]) => verdicts.flatMap(pick)
    const result = {
      acknowledged: verdicts.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      locks: verdicts.length,
      lost: all(({ lost }) => lost),
      twice: all(({ twice }) => twice),
      failedButApplied: all(verdict => verdict.failedButApplied),
      bricked: all(({ bricked }) => (bricked === null ? [] : [bricked])),
      fences: all(({ fences }) => fences),
      disordered: all(({ disordered }) => disordered),
      misconfigured: all(({ misconfigured }) => misconfigured),
      stuck: all(({ stuck }) => stuck),
      historiesJudged: judged,
      historyViolations: violations,
      leftoverProcesses,
      faults: this.faults,
      skipped: preload.type === 'absent' ? `${WITH_PRELOAD.join(', ')}: ${preload.why}` : null,
      longestStallMs: this.population.longestStallMs,
      evidence: null,
    }
    if (isGood(result)) return result
    const records = this.population.locks.map(({ recorder }) => ({
      lock: recorder.lock,
      operations: [...recorder.operations.values()],
      fences: recorder.fences,
    }))
    await writeFile(join(this.folder, 'records.json'), JSON.stringify(records))
    await writeFile(join(this.folder, 'result.json'), JSON.stringify(result, null, 2))
    return { ...result, evidence: this.folder }
  }

  private note(text: string): void {
    const seconds = ((Date.now() - this.startedAt) / 1_000).toFixed(1)
    appendFileSync(join(this.folder, 'run.log'), `${new Date().toISOString()} ${text}\n`)
    this.options.print(`${seconds.padStart(6)} s  ${text}`)
  }
}

/** Everything that must be empty, by its name. */
export function findingsOf(result: RunResult): { readonly [name: string]: readonly string[] } {
  const { lost, twice, failedButApplied, bricked, fences, disordered } = result
  const { misconfigured, stuck, historyViolations } = result
  return {
    ...{ lost, twice, failedButApplied, bricked, fences, disordered },
    ...{ misconfigured, stuck, historyViolations },
  }
}

export function isGood(result: RunResult): boolean {
  return Object.values(findingsOf(result)).every(list => list.length === 0) && result.leftoverProcesses === 0
}
