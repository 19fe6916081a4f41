/**
 * Writes a transcript of a run: each step with its input, its effects, and what has changed about the
 * participant. It wraps the protocol, so it does not matter who interprets the effects.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Context, Effect, Input, Protocol } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { eventInWords, inputInWords, messageInWords, name, recordInWords } from './words.ts'

type Effects = readonly Effect<WmeMessage>[]
type Sending = Extract<Effect<WmeMessage>, { type: 'send' }>

const WIDTH = 110
const INDENTED = ' '.repeat(10)
const COLUMN = 9

/** One effect. Only what is saved may take more than one line. */
function indented(word: string, parts: readonly string[]): string[] {
  const lines = [INDENTED + word.padEnd(COLUMN)]
  for (const [index, part] of parts.entries()) {
    const text = index === parts.length - 1 ? part : `${part}; `
    if (index > 0 && (lines.at(-1) + text).trimEnd().length > WIDTH) lines.push(INDENTED + ' '.repeat(COLUMN))
    lines[lines.length - 1] += text
  }
  return lines.map(line => line.trimEnd())
}

export class Recorder {
  readonly lines: string[] = []
  isOn = false

  /** The same protocol, but every step is written down. */
  record(protocol: Protocol<WmeState, WmeMessage>): Protocol<WmeState, WmeMessage> {
    return {
      ...protocol,
      step: (context, state, input) => {
        const before = situation(protocol, context, state)
        const effects = protocol.step(context, state, input)
        if (this.isOn) this.step(context, input, effects, [before, situation(protocol, context, state)])
        return effects
      },
    }
  }

  /** Something that is not a step of a participant: what the scene is about, or what the network does. */
  say(text: string): void {
    this.lines.push('', `-- ${text}`)
  }

  lost(from: number, to: number, message: WmeMessage): void {
    if (!this.isOn) return
    this.lines.push(...indented('lost', [`${name(from)} to ${name(to)}: ${messageInWords(message)}`]))
  }

  private step(
    { config }: Context,
    input: Input<WmeMessage>,
    effects: Effects,
    [before, after]: readonly [string, string],
  ): void {
    this.lines.push(`${String(input.now).padStart(6)} ms ${name(config.self)} ${inputInWords(input)}`)
    for (const effect of effects) this.effect(effect, effects)
    const timers = timersInWords(effects)
    if (timers !== '') this.lines.push(...indented('timers', [timers]))
    if (after !== before) this.lines.push(...indented('now', [after]))
  }

  private effect(effect: Effect<WmeMessage>, all: Effects): void {
    switch (effect.type) {
      case 'save':
        this.lines.push(...indented('save', effect.records.map(recordInWords)))
        return
      case 'send': {
        // A message to several participants is one line, where the first of them stands.
        const same = sends(all).filter(other => isDeepStrictEqual(other.message, effect.message))
        if (same[0] !== effect) return
        const receivers = same.map(other => name(other.to)).join(', ')
        this.lines.push(...indented('send', [`to ${receivers}: ${messageInWords(effect.message.body)}`]))
        return
      }
      case 'emit':
        this.lines.push(...indented('emit', [eventInWords(effect.event)]))
    }
  }
}

const sends = (effects: Effects): Sending[] => effects.filter(effect => effect.type === 'send')

function timersInWords(effects: Effects): string {
  return effects
    .flatMap(effect => {
      if (effect.type === 'set-timer') return [`${effect.timer} in ${Math.round(effect.afterMs)} ms`]
      return effect.type === 'cancel-timer' ? [`no ${effect.timer}`] : []
    })
    .join(', ')
}

/** What a reader wants to see change. */
function situation(protocol: Protocol<WmeState, WmeMessage>, context: Context, state: WmeState): string {
  const { epoch, phase, owner, committed } = protocol.view(context, state)
  const sealed = state.durable.epoch.sealed ? ', sealed' : ''
  return `epoch ${epoch}${sealed}, ${phase}, owner ${name(owner!)}, committed #${committed}`
}
