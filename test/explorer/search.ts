/**
 * Searches all worlds within a bound and visits each once: first all in which nothing goes wrong, then all
 * with one fault, then with two, and so on; breadth-first among those with the same number of faults. So a
 * search that runs out of time still says for how many faults it is complete, and a violation comes with a
 * short run with few faults.
 */
import type { Bound } from './bound.ts'
import { Findings, type Violation } from './findings.ts'
import { Fingerprinter } from './fingerprint.ts'
import type { AnyMessage } from './mail.ts'
import { minimise } from './minimise.ts'
import type { Model } from './model.ts'
import { everybodyOf, moversOf } from './movers.ts'
import { Seats } from './seats.ts'
import { Settler } from './settle.ts'
import { ChunkedInts, FingerprintSet, PairTable } from './tables.ts'
import { describeStep } from './trace.ts'
import { Worlds } from './worlds.ts'

export interface SearchOptions {
  readonly seconds: number
  readonly bytes: number
  /** If false, every world is visited, for comparison. Default: as the model allows. */
  readonly reduction?: boolean
  readonly onProgress?: (progress: SearchProgress) => void
}

export interface SearchProgress {
  readonly states: number
  readonly transitions: number
  readonly waiting: number
  readonly faults: number
  readonly seconds: number
  readonly bytes: number
}

export interface SearchResult {
  readonly states: number
  readonly transitions: number
  readonly complete: boolean
  readonly stopped: 'time' | 'memory' | 'violation' | null
  /** All worlds with at most this many faults were visited; -1: not even those without. */
  readonly completeFaults: number
  /** The longest of the shortest runs to a world. */
  readonly depth: number
  readonly violation: (Violation & { readonly trace: readonly string[] }) | null
  readonly seconds: number
  readonly reached: ReadonlySet<string>
  /** The number of different states of one participant, and how often the core was asked for a step. */
  readonly seats: number
  readonly steps: number
  /** The number of worlds from which a fair run was tried to see whether all users get through. */
  readonly settled: number
}

const LOOK_AT_CLOCK_EVERY = 1024

export class Search<State, Message extends AnyMessage> {
  readonly worlds: Worlds
  readonly findings = new Findings()
  private readonly model: Model<State, Message>
  private readonly bound: Bound
  private readonly visited = new FingerprintSet()
  /** By number of faults: the worlds to be expanded, each preceded by its number. */
  private readonly queues: ChunkedInts[]
  /**
   * By world, in the order of discovery: the world from which it was reached, and as which successor for
   * which movers.
   */
  private readonly parents = new ChunkedInts(2 ** 16)
  private readonly ordinals = new ChunkedInts(2 ** 16)
  private readonly pairs = new PairTable(12)
  private readonly fingerprint: Fingerprinter
  private readonly settler: Settler
  private readonly everybody: number
  private transitions = 0
  private path: number[] = []
  private lastStep: string[] = []
  private isTimeOver = () => false

  constructor(model: Model<State, Message>, bound: Bound) {
    this.model = model
    this.bound = bound
    this.worlds = new Worlds(new Seats(model, bound, this.findings), bound, this.findings)
    this.everybody = everybodyOf(bound.participants)
    this.fingerprint = new Fingerprinter(this.worlds)
    this.settler = new Settler(this.worlds, this.findings)
    const size = (this.worlds.width + 1) * 2 ** 12
    this.queues = Array.from({ length: bound.faults + 1 }, () => new ChunkedInts(size))
  }

  run(options: SearchOptions): SearchResult {
    const started = performance.now()
    const secondsSince = () => (performance.now() - started) / 1000
    this.isTimeOver = () => secondsSince() > options.seconds
    const world = this.worlds.initial()
    for (let index = 0; index < this.worlds.participants; index++) this.checkPairsOf(world, 0, index)
    this.fingerprint.compute(world, 0)
    this.visited.add(this.fingerprint.high, this.fingerprint.low)
    this.enqueue(world, 0, 0, 0)
    let completeFaults = -1
    let depth = 0
    let stopped: SearchResult['stopped'] = this.findings.violation === null ? null : 'violation'
    for (let faults = 0; faults <= this.bound.faults && stopped === null; faults++) {
      const queue = this.queues[faults]!
      let endOfLevel = queue.length
      let levels = 0
      const row = new Int32Array(this.worlds.width + 1)
      for (let next = 0; next < queue.length && stopped === null; next += row.length) {
        if (next === endOfLevel) {
          endOfLevel = queue.length
          depth = Math.max(depth, ++levels)
        }
        queue.read(next, row)
        queue.forgetBelow(next)
        this.expand(row.subarray(1), row[0]!, options.reduction ?? this.model.mayReduce)
        if (this.findings.violation !== null) stopped = 'violation'
        else if (this.settler.isTimeOver) stopped = 'time'
        else if ((next / row.length) % LOOK_AT_CLOCK_EVERY === 0) {
          const { states, transitions, bytes } = this
          const seconds = secondsSince()
          const waiting = (queue.length - next) / row.length
          options.onProgress?.({ states, transitions, waiting, faults, seconds, bytes })
          if (seconds > options.seconds) stopped = 'time'
          else if (bytes > options.bytes) stopped = 'memory'
        }
      }
      if (stopped === null) completeFaults = faults
    }
    return {
      states: this.states,
      transitions: this.transitions,
      complete: stopped === null,
      stopped,
      completeFaults,
      depth,
      violation: this.describeViolation(),
      seconds: secondsSince(),
      reached: this.findings.reached,
      seats: this.worlds.seats.seats.length,
      steps: this.worlds.seats.steps,
      settled: this.settler.count,
    }
  }

  get states(): number {
    return this.visited.size
  }

  /** The size without the heap, which holds seats, messages and inboxes. */
  get bytes(): number {
    let bytes = this.visited.bytes + this.parents.bytes + this.ordinals.bytes + this.pairs.bytes
    for (const queue of this.queues) bytes += queue.bytes
    return bytes
  }

  // ---------------------------------------------------------------- one world

  private expand(world: Int32Array, from: number, mayReduce: boolean): void {
    const { worlds, fingerprint, findings } = this
    fingerprint.compute(world, 0)
    this.visited.mark(fingerprint.high, fingerprint.low)
    const movers = mayReduce ? moversOf(worlds, world) : this.everybody
    worlds.expand(world, movers)
    const isEnough = movers === this.everybody || (worlds.blockers & ~movers) === 0
    if (findings.violation !== null || isEnough) {
      if (this.take(from, movers) || movers === this.everybody) return this.settle(world, from)
    }
    worlds.expand(world, this.everybody)
    this.take(from, this.everybody)
    this.settle(world, from)
  }

  private settle(world: Int32Array, from: number): void {
    if (!this.worlds.isQuiet || this.findings.violation !== null) return
    this.settler.settle(world, this.isTimeOver)
    if (this.findings.violation !== null) this.tracePath(from, null)
  }

  /** Visits what `expand` has found. Returns whether some of it was not expanded before. */
  private take(from: number, movers: number): boolean {
    const { worlds, fingerprint, findings, visited } = this
    const { width, count, successors, steps } = worlds
    let isAhead = false
    this.transitions += count
    // The core, or a property of a single step, has failed in the last step.
    if (findings.violation !== null) {
      this.tracePath(from, count - 1)
      return true
    }
    for (let ordinal = 0; ordinal < count; ordinal++) {
      const at = ordinal * width
      fingerprint.compute(successors, at)
      const known = visited.add(fingerprint.high, fingerprint.low)
      if (known !== 2) isAhead = true
      if (known !== 0) continue
      this.enqueue(successors, at, from, encode(ordinal, movers))
      this.checkPairsOf(successors, at, steps[3 * ordinal]! - 1)
      if (findings.violation === null) continue
      this.tracePath(from, ordinal)
      return true
    }
    return isAhead
  }

  private enqueue(numbers: Int32Array, at: number, parent: number, ordinal: number): void {
    const { width, participants, budgets } = this.worlds
    const queue = this.queues[budgets.faultsOf(numbers[at + 2 * participants]!)]!
    queue.push(this.parents.length)
    for (let index = 0; index < width; index++) queue.push(numbers[at + index]!)
    this.parents.push(parent)
    this.ordinals.push(ordinal)
  }

  /** Checks the properties of pairs, for the seat that has changed with each other one. */
  private checkPairsOf(numbers: Int32Array, at: number, index: number): void {
    const { participants, seats } = this.worlds
    const changed = numbers[at + index]!
    for (let place = 0; place < participants; place++) {
      if (place === index) continue
      const other = numbers[at + place]!
      const first = Math.min(changed, other)
      const second = Math.max(changed, other)
      if (this.pairs.get(first, second) !== -1) continue
      this.pairs.add(first, second, 0)
      seats.checkPair(first, second)
    }
  }

  // ---------------------------------------------------------------- the way to a violation

  /** The path to this world, and from there to this successor. */
  private tracePath(from: number, ordinal: number | null): void {
    const path: number[] = []
    for (let state = from; state !== 0; state = this.parents.get(state)) path.push(this.ordinals.get(state))
    this.path = path.reverse()
    this.lastStep = ordinal === null ? [] : [this.describe(ordinal)]
  }

  private describe(ordinal: number): string {
    const [participant, input, how] = this.worlds.steps.subarray(3 * ordinal)
    return describeStep(this.worlds, participant!, input!, how!)
  }

  private describeViolation(): SearchResult['violation'] {
    const { violation } = this.findings
    if (violation === null) return null
    const steps = [...this.describePath(), ...this.lastStep]
    const trace = minimise(this.model, this.bound, steps, violation.property)
    return { ...violation, trace: [...trace, ...this.settler.trace] }
  }

  private describePath(): string[] {
    const { worlds } = this
    this.findings.violation = null
    let world = worlds.initial()
    return this.path.map(code => {
      worlds.expand(world, code >>> 16)
      const ordinal = code & 0xffff
      world = worlds.successors.slice(ordinal * worlds.width, (ordinal + 1) * worlds.width)
      return this.describe(ordinal)
    })
  }
}

const encode = (ordinal: number, movers: number): number => ordinal | (movers << 16)
