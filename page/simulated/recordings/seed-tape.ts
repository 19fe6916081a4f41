/**
 * A seed of the simulator (`npm run sim`) as a tape: that very simulation runs in the browser, with all its
 * faults and checks, and is written down step by step.
 */

import type { HistoryEvent } from '../../../shared/history/events.ts'
import { GUARDING_PROTOCOLS } from '../../../shared/protocols/all.ts'
import type { Effect, Input, ProtocolName, View } from '../../../shared/protocols/protocol.ts'
import { wmeConsensus } from '../../../shared/protocols/wme-consensus/wme-consensus.ts'
import { consensusSubject } from '../../../test/simulator/consensus-subject.ts'
import { FAULTS } from '../../../test/simulator/faults.ts'
import { maekawaSubject, ricartAgrawalaSubject } from '../../../test/simulator/lock-only-subject.ts'
import { runSubject, type ViolationReport } from '../../../test/simulator/run.ts'
import type { RunOptions } from '../../../test/simulator/scenario.ts'
import type { Subject } from '../../../test/simulator/subject.ts'
import { Transcript } from '../../../test/simulator/transcript.ts'
import { wmeSubject } from '../../../test/simulator/wme-subject.ts'
import { sameOrNew, seatOf } from '../engine/seat.ts'
import type { Glyph, Mark, Message, Moment, Seat, Tape } from '../engine/tape.ts'
import { changesInWords, inputInWords } from '../engine/words.ts'
import { GLYPHS, inWords } from './history-tape.ts'

export interface SeedTape {
  readonly tape: Tape
  /** What the simulator's own checks found; `null`: nothing. */
  readonly violation: ViolationReport | null
  readonly steps: number
}

/** The simulation with the options that `npm run sim` has by default, and with `--members` if told so. */
export function seedTape(
  protocol: ProtocolName,
  participants: number,
  seed: number,
  members = false,
): SeedTape {
  const options: RunOptions = {
    protocol,
    participants,
    faults: FAULTS,
    durationMs: null,
    users: null,
    members,
  }
  switch (protocol) {
    case 'wme-1':
    case 'wme-2':
      return record(wmeSubject(protocol), options, seed)
    case 'wme-consensus':
      return record(consensusSubject(wmeConsensus), options, seed)
    case 'ricart-agrawala':
      return record(ricartAgrawalaSubject(), options, seed)
    case 'maekawa':
      return record(maekawaSubject(), options, seed)
  }
}

function record<State, MessageBody>(
  subject: Subject<State, MessageBody>,
  options: RunOptions,
  seed: number,
): SeedTape {
  const writer = new Writer()
  const { protocol } = subject
  const watched: Subject<State, MessageBody> = {
    ...subject,
    protocol: {
      ...protocol,
      step: (context, state, input) => {
        const effects = protocol.step(context, state, input)
        writer.seen = protocol.view(context, state)
        return effects
      },
    },
  }
  const { history, violation, steps } = runSubject(watched, options, seed, null, writer)
  const guardsState = GUARDING_PROTOCOLS.includes(options.protocol)
  const { moments, messages } = writer
  return { tape: { protocol: options.protocol, guardsState, moments, messages, history }, violation, steps }
}

class Writer extends Transcript {
  readonly moments: Moment[] = []
  readonly messages: Message[] = []
  /** The view of the participant that made the last step. */
  seen: View | null = null
  readonly #seats = new Map<number, Seat>()
  /** Those that may still arrive, by what they say: copies are equal as text. */
  readonly #flying = new Map<string, number[]>()
  #recorded = 0

  constructor() {
    super(null)
  }

  override step(now: number, id: number, input: Input<unknown>, effects: readonly Effect<unknown>[]): void {
    super.step(now, id, input, effects)
    const moment = this.moments.length
    const received = input.type === 'message' ? this.#arrive(input.from, id, input.message, now) : null
    const marks: Mark[] = []
    if (input.type === 'start' && now > 0)
      marks.push({ glyph: 'start', participant: id, text: `${id} starts` })
    for (const effect of effects) {
      if (effect.type === 'send') this.#leave(id, effect.to, effect.message, now, moment)
      if (effect.type !== 'emit') continue
      const { event } = effect
      // The recorder writes two events for an operation that a replica applies, and one for a snapshot.
      if (event.type === 'applied') {
        marks.push({ glyph: 'applied', participant: id, text: `${id} applies ${event.opId}` })
        this.#recorded += 2
      } else if (event.type === 'restored') {
        marks.push({ glyph: 'restored', participant: id, text: `${id} takes a snapshot` })
        this.#recorded++
      }
    }
    const text = inputInWords(id, input as Input<{ readonly type: string }>)
    const seats = this.#look(id, 'up', marks)
    this.#write(now, id, text, received, marks, seats)
  }

  override note(now: number, id: number, text: string): void {
    super.note(now, id, text)
    const fault = FAULT_WORDS.find(([word]) => text.startsWith(word))
    if (text.startsWith('loses what')) this.#recorded++
    if (text === 'wipe') this.#recorded++
    // The step that follows says the same.
    if (fault === undefined || text === 'start') return
    const [, glyph, words, condition] = fault
    const about = id === 0 ? text : `${id} ${words}`
    const marks: Mark[] = id === 0 ? [] : [{ glyph, participant: id, text: about }]
    const seats = condition === null || id === 0 ? [] : this.#look(id, condition, marks)
    this.#write(now, id, about, null, marks, seats)
  }

  override history(event: HistoryEvent): void {
    super.history(event)
    this.#recorded++
    const participant = 'participant' in event ? event.participant : 0
    const glyph = GLYPHS[event.type]
    const text = inWords(event)
    const marks: Mark[] = glyph === undefined ? [] : [{ glyph, participant, text }]
    this.#write(event.at, participant, text, null, marks, [])
  }

  #write(
    at: number,
    participant: number,
    text: string,
    received: number | null,
    marks: readonly Mark[],
    seats: readonly Seat[],
  ): void {
    const moment = { at, participant, text, received, marks, seats, recorded: this.#recorded }
    this.moments.push({ ...moment, sent: this.messages.length, cuts: [] })
  }

  #look(id: number, condition: Seat['condition'], marks: Mark[]): Seat[] {
    const before = this.#seats.get(id) ?? null
    const seen = condition === 'up' && this.seen !== null ? seatOf(id, condition, this.seen) : before
    if (seen === null) return []
    const after = sameOrNew(before, { ...seen, condition })
    if (after === before) return []
    this.#seats.set(id, after)
    marks.push(...changesInWords(before, after))
    return [after]
  }

  #leave(
    from: number,
    to: number,
    message: { readonly body: unknown },
    sentAt: number,
    sentIn: number,
  ): void {
    const { type } = message.body as { readonly type: string }
    const number =
      this.messages.push({ from, to, type, sentIn, receivedIn: null, sentAt, arrivesAt: null }) - 1
    const key = keyOf(from, to, message)
    const flying = this.#flying.get(key)
    if (flying === undefined) this.#flying.set(key, [number])
    else flying.push(number)
  }

  /** Of equal messages, the one that left first; a second copy is not drawn. */
  #arrive(from: number, to: number, message: unknown, arrivesAt: number): number | null {
    const key = keyOf(from, to, message)
    const flying = this.#flying.get(key)
    const number = flying?.shift()
    if (number === undefined) return null
    if (flying!.length === 0) this.#flying.delete(key)
    this.messages[number] = { ...this.messages[number]!, receivedIn: this.moments.length, arrivesAt }
    return number
  }
}

const keyOf = (from: number, to: number, message: unknown): string =>
  `${from}>${to} ${JSON.stringify(message)}`

const FAULT_WORDS: readonly (readonly [string, Glyph, string, Seat['condition'] | null])[] = [
  ['crash', 'crash', 'crashes', 'down'],
  ['start', 'start', 'starts', null],
  ['wipe', 'wipe', 'loses its storage', 'down'],
  ['pause', 'pause', 'stands still', 'paused'],
  ['switched off', 'crash', 'is switched off for good', 'off'],
  ['partition', 'cut', 'is cut off', null],
  ['one-way', 'cut', 'is cut off one way', null],
]
