/**
 * What happened, in order. A hash of it is always kept, so that two runs can be compared; the text is made
 * only when somebody wants to read it.
 */
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Effect, Input, UserInput, UserOutput } from '../../shared/protocols/protocol.ts'

export type Print = (line: string) => void

export class Transcript {
  readonly #print: Print | null
  #hash = 0x811c9dc5

  constructor(print: Print | null) {
    this.#print = print
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  #mix(now: number, participant: number, first: number, second: number): void {
    let hash = Math.imul(this.#hash ^ ((now * 1024) | 0), 0x01000193)
    hash = Math.imul(hash ^ participant, 0x01000193)
    hash = Math.imul(hash ^ first, 0x01000193)
    this.#hash = Math.imul(hash ^ second, 0x01000193)
  }

  step(now: number, participant: number, input: Input<unknown>, effects: readonly Effect<unknown>[]): void {
    this.#mix(now, participant, input.type.length, effects.length)
    if (this.#print === null) return
    this.#line(now, participant, `< ${describeInput(input)}`)
    for (const effect of effects) this.#line(now, participant, `    ${describeEffect(effect)}`)
  }

  /** Something that is not a step of a participant: a fault, a mark, an action of a client. */
  note(now: number, participant: number, text: string): void {
    this.#mix(now, participant, text.length, 0)
    if (this.#print !== null) this.#line(now, participant, `! ${text}`)
  }

  /** What a client records. */
  history(event: HistoryEvent): void {
    this.#mix(event.at, 'participant' in event ? event.participant : 0, event.type.length, 1)
    if (this.#print === null) return
    const { at, type, ...rest } = event
    this.#line(at, 'participant' in event ? event.participant : 0, `* ${type} ${text(rest)}`)
  }

  #line(now: number, participant: number, text: string): void {
    this.#print!(`${now.toFixed(2).padStart(10)} ${participant === 0 ? '  ' : `p${participant}`} ${text}`)
  }
}

function describeInput(input: Input<unknown>): string {
  switch (input.type) {
    case 'message':
      return `from p${input.from}: ${describeMessage(input.message.body)}`
    case 'timer':
      return `timer ${input.timer} (clock ${input.now})`
    case 'user':
      return `user ${describeEvent(input.event)}`
    case 'unreachable':
      return `unreachable p${input.peer}`
    case 'start':
      return `start (clock ${input.now}, incarnation ${input.incarnation}${input.genesis ? ', genesis' : ''})`
  }
}

function describeEffect(effect: Effect<unknown>): string {
  switch (effect.type) {
    case 'save':
      return `save ${effect.records.map(({ key, value }) => `${key}=${text(value)}`).join(' ')}`
    case 'send':
      return `> p${effect.to}: ${describeMessage(effect.message.body)}`
    case 'set-timer':
      return `set ${effect.timer} in ${effect.afterMs}`
    case 'cancel-timer':
      return `cancel ${effect.timer}`
    case 'emit':
      return `emit ${describeEvent(effect.event)}`
  }
}

function describeMessage(body: unknown): string {
  return describeEvent(body as { readonly type: string })
}

function describeEvent(event: UserInput | UserOutput | { readonly type: string }): string {
  const { type, ...rest } = event
  return `${type} ${text(rest)}`
}

const SHOWN_CHARACTERS = 600

function text(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing'
  return json.length <= SHOWN_CHARACTERS ? json : `${json.slice(0, SHOWN_CHARACTERS)}…`
}
