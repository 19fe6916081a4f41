/**
 * What the reader looks at: a tape, and how many of its moments have been shown. A run of the page grows as
 * it is played, and the reader can act in it; a recording is only shown.
 */
import type { Action } from './engine/actions.ts'
import { Run } from './engine/run.ts'
import type { Tape } from './engine/tape.ts'
import type { Link, Source } from './link.ts'
import { scenarioNamed } from './scenarios/all.ts'
import { type Caption, prepare } from './scenarios/stage.ts'

/** Virtual milliseconds in one of the reader's. */
export const SPEEDS = [
  { name: 'Very slow', factor: 0.02 },
  { name: 'Slow', factor: 0.06 },
  { name: 'Normal', factor: 0.15 },
  { name: 'Fast', factor: 0.6 },
  { name: 'Very fast', factor: 4 },
] as const
export const NORMAL_SPEED = 2

/** A moment is shown for at least and at most this long, whatever the speed. */
const LEAST_MS = 8
const MOST_MS = 700

export class Player {
  readonly captions: readonly Caption[]
  /** Where playing stops by itself; `null`: when nothing is left to happen. */
  readonly #stop: number | null
  /** `null` for a recording. */
  #run: Run | null
  readonly #recording: Tape | null
  #source: Source | null
  #position: number
  /** How long the last moment has been shown, in the reader's time. */
  #shownMs = 0
  isPlaying = false
  speed = NORMAL_SPEED
  /** Whether the reader has done something that is not in the scenario. */
  isChanged = false
  /** Whether the reader has moved at all. */
  isTouched = false

  private constructor(
    source: Source | null,
    run: Run | null,
    recording: Tape | null,
    captions: readonly Caption[],
    stop: number | null,
    position: number,
  ) {
    this.#source = source
    this.#run = run
    this.#recording = recording
    this.captions = captions
    this.#stop = stop
    this.#position = position
  }

  static ofScenario(name: string, position: number | null): Player {
    const { setup, actions, captions, length } = prepare(scenarioNamed(name)!)
    const run = new Run(setup, actions)
    run.extendTo(Math.max(length, position ?? 0))
    const shown = Math.max(1, Math.min(position ?? 1, run.length))
    return new Player({ kind: 'scenario', name }, run, null, captions, length, shown)
  }

  static ofRun(source: Extract<Source, { readonly kind: 'run' }>, position: number | null): Player {
    const run = new Run(source.setup, source.actions)
    const wanted = position ?? source.actions.at(-1)?.after ?? 1
    run.extendTo(wanted)
    return new Player(source, run, null, [], null, Math.max(1, Math.min(wanted, run.length)))
  }

  static ofRecording(tape: Tape, source: Source | null, position: number | null): Player {
    const shown = Math.max(1, Math.min(position ?? 1, tape.moments.length))
    return new Player(source, null, tape, [], null, shown)
  }

  get tape(): Tape {
    return this.#run?.tape ?? this.#recording!
  }

  /** `null` for a recording, in which nothing can be done. */
  get run(): Run | null {
    return this.#run
  }

  get position(): number {
    return this.#position
  }

  get length(): number {
    return this.tape.moments.length
  }

  /** The time that is shown: while it plays, a little after the last moment. */
  get now(): number {
    const at = this.tape.moments[this.#position - 1]?.at ?? 0
    const next = this.#nextAt
    return next === null ? at : Math.min(next, at + this.#shownMs * SPEEDS[this.speed]!.factor)
  }

  get caption(): Caption | null {
    return this.captions.findLast(({ from }) => from <= this.#position) ?? null
  }

  /** `null`: it cannot be linked to, because it came from a file. */
  get link(): Link | null {
    const source = this.#source
    if (source === null || this.#run === null || source.kind === 'seed')
      return source === null ? null : { source, position: this.#position }
    if (source.kind === 'scenario') return { source, position: this.#position }
    return { source: { ...source, actions: this.#run.actions }, position: this.#position }
  }

  // ---------------------------------------------------------------- moving

  /** Returns false if there is nothing more to see. */
  step(): boolean {
    if (this.#position >= this.length && !(this.#run?.advance() ?? false)) return false
    this.#position++
    this.#shownMs = 0
    this.isTouched = true
    return true
  }

  back(): void {
    this.goTo(this.#position - 1)
  }

  goTo(position: number): void {
    this.#run?.extendTo(position)
    this.#position = Math.max(1, Math.min(position, this.length))
    this.#shownMs = 0
    this.isTouched = true
  }

  /** To the next words, or to the end. */
  nextCaption(): void {
    const next = this.captions.find(({ from }) => from > this.#position)
    this.goTo(next?.from ?? this.#stop ?? this.#position)
  }

  previousCaption(): void {
    const current = this.caption
    const earlier = this.captions.findLast(({ from }) => from < (current?.from ?? 0))
    this.goTo(earlier?.from ?? 1)
  }

  play(): void {
    this.isPlaying = true
  }

  pause(): void {
    this.isPlaying = false
  }

  /** So much of the reader's time has passed. */
  tick(elapsedMs: number): void {
    if (!this.isPlaying) return
    this.#shownMs += elapsedMs
    for (;;) {
      const cost = this.#cost
      if (cost === null) return this.pause()
      if (this.#shownMs < cost) return
      const left = this.#shownMs - cost
      const stopsHere = this.#position + 1 === this.#stop
      if (!this.step() || stopsHere) return this.pause()
      this.#shownMs = left
    }
  }

  get #nextAt(): number | null {
    return this.tape.moments[this.#position]?.at ?? this.#run?.nextAt ?? null
  }

  /** How long the last moment is shown before the next; `null`: there is none. */
  get #cost(): number | null {
    const next = this.#nextAt
    if (next === null) return null
    const at = this.tape.moments[this.#position - 1]?.at ?? 0
    return Math.min(MOST_MS, Math.max(LEAST_MS, (next - at) / SPEEDS[this.speed]!.factor))
  }

  // ---------------------------------------------------------------- acting

  /** From here on it is another run. */
  act(action: Action): void {
    if (this.#run === null) return
    const before = this.#run.actions.length
    const run = this.#run.withAction(this.#position, action)
    if (run === this.#run && run.actions.length === before) return
    this.#run = run
    this.#position = run.length
    this.#shownMs = 0
    this.isChanged = true
    this.isTouched = true
    this.#source = { kind: 'run', setup: run.setup, actions: run.actions }
  }
}
