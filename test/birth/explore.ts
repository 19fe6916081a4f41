/**
 * The register alone, exhaustively in small bounds: every message may arrive at any time, or never. Repeated
 * messages are left to the simulator: a network that keeps everything has too many states. There is no core
 * (its resource is not registered), so ballot 0 is accepted by `begun` alone.
 */
import { lock as machine } from '../../shared/birth/lock.ts'
import type { LockState } from '../../shared/birth/lock-state.ts'
import type { BirthRecord, LockContext, LockInput } from '../../shared/birth/lock-types.ts'
import type { LockEnvelope } from '../../shared/birth/messages.ts'
import { digestOf, isWeak, type LockValue } from '../../shared/birth/value.ts'
import type { Json } from '../../shared/json.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { hashText } from '../../shared/resource/canonical.ts'
import { configurationOf } from './scenario.ts'
import { Table } from './table.ts'
import { Violation } from './violation.ts'

export interface Bounds {
  readonly registrars: number
  readonly first: number
  /** Participants at which the lock is used, and those that configure it, each once. */
  readonly uses: readonly number[]
  readonly configures: readonly number[]
  /** What the lock is to be where it is configured; by default as weak as where it is used. */
  readonly protocol?: ProtocolName
  /** Timers that may fire, and crashes, in all. */
  readonly timers: number
  readonly crashes: number
  readonly maxStates: number
}

interface Position {
  readonly states: readonly LockState[]
  readonly net: ReadonlyMap<
    string,
    { readonly to: number; readonly from: number; readonly message: LockEnvelope }
  >
  readonly left: { readonly wishes: readonly string[]; readonly timers: number; readonly crashes: number }
}

export interface Exploration {
  readonly states: number
  readonly isComplete: boolean
  /** How many different outcomes there are at the ends. */
  readonly choices: number
}

export function explore(bounds: Bounds): Exploration {
  const table = Table.founded({ registrars: bounds.registrars, first: bounds.first, withoutCore: true })
  const contexts = table.seats.map(({ context }) => context)
  const wishes = [...bounds.uses.map(id => `use ${id}`), ...bounds.configures.map(id => `configure ${id}`)]
  const first: Position = {
    states: table.seats.map(({ state }) => state!),
    net: new Map(),
    left: { wishes, timers: bounds.timers, crashes: bounds.crashes },
  }
  const seen = new Set([fingerprint(first)])
  const choices = new Set<string>()
  const stack = [first]
  for (let position = stack.pop(); position !== undefined; position = stack.pop()) {
    if (seen.size > bounds.maxStates) return { states: seen.size, isComplete: false, choices: choices.size }
    check(position, choices)
    for (const next of successors(position, contexts, bounds.protocol ?? 'wme-2')) {
      const key = fingerprint(next)
      if (seen.has(key)) continue
      seen.add(key)
      stack.push(next)
    }
  }
  return { states: seen.size, isComplete: true, choices: choices.size }
}

function check({ states }: Position, choices: Set<string>): void {
  const chosen = new Set(states.flatMap(state => (state?.birth.chosen ? [digestOf(state.birth.chosen)] : [])))
  if (chosen.size > 1) throw new Violation('one choice', 'two values are chosen')
  const isStrict = states.some(state => state?.birth.chosen && !isWeak(state.birth.chosen.configuration))
  const isWeakHere = ({ birth: { accepted, chosen } }: LockState) =>
    chosen === null && accepted?.ballot === 0 && isWeak(accepted.value.configuration)
  if (isStrict && states.slice(1).some(isWeakHere)) throw new Violation('strict', 'a weak lock is begun, too')
  for (const digest of chosen) choices.add(digest)
}

function* successors(
  position: Position,
  contexts: readonly LockContext[],
  protocol: ProtocolName,
): Generator<Position> {
  const { left, net } = position
  for (const wish of left.wishes) {
    const [kind, id] = wish.split(' ') as [string, string]
    const process = Number(id)
    const configuration = configurationOf(
      protocol,
      contexts[process]!.registrars.length,
      1_000 + process,
      false,
    )
    const input: LockInput =
      kind === 'use' ? { type: 'use', now: 0 } : { type: 'configure', now: 0, request: wish, configuration }
    yield move(position, contexts, process, input, {
      ...left,
      wishes: left.wishes.filter(one => one !== wish),
    })
  }
  for (const [key, { to, from, message }] of net) {
    const rest = new Map(net)
    rest.delete(key)
    yield move({ ...position, net: rest }, contexts, to, { type: 'message', now: 0, from, message }, left)
  }
  for (let id = 1; id < contexts.length; id++) {
    if (left.timers > 0)
      yield move(
        position,
        contexts,
        id,
        { type: 'timer', now: 0, timer: 'birth/propose' },
        {
          ...left,
          timers: left.timers - 1,
        },
      )
    if (left.crashes > 0) yield crash(position, contexts, id)
  }
}

function move(
  position: Position,
  contexts: readonly LockContext[],
  id: number,
  input: LockInput,
  left: Position['left'],
): Position {
  const states = [...position.states]
  const state = copyOf(states[id]!)
  states[id] = state
  const net = new Map(position.net)
  for (const effect of machine.step(contexts[id]!, state, input)) {
    // Telling a choice, or asking a participant that knows it, can lead to no other choice.
    if (effect.type !== 'send' || effect.message.body.type === 'chosen') continue
    if (states[effect.to]!.birth.chosen !== null) continue
    const letter = { to: effect.to, from: id, message: effect.message }
    net.set(keyOf(letter), letter)
  }
  if (state.birth.chosen !== null) for (const [key, letter] of net) if (letter.to === id) net.delete(key)
  return { states, net, left }
}

/** Records are replaced and never changed, so only what is changed in place is copied. */
function copyOf({ birth, core, soft }: LockState): LockState {
  const { proposal } = soft
  return {
    birth,
    core,
    soft: {
      ...soft,
      configures: [...soft.configures],
      askers: new Set(soft.askers),
      held: [...soft.held],
      unreachable: new Set(soft.unreachable),
      acting: new Map(soft.acting),
      counted: new Map(soft.counted),
      informed: new Set(soft.informed),
      tries: new Map(soft.tries),
      proposal: proposal && {
        ...proposal,
        promises: new Map(proposal.promises),
        acceptances: new Map(proposal.acceptances),
        lost: new Set(proposal.lost),
      },
    },
  }
}

function crash(position: Position, contexts: readonly LockContext[], id: number): Position {
  const records: [string, Json][] = [['birth', position.states[id]!.birth as unknown as Json]]
  const states = [...position.states]
  states[id] = machine.recover(contexts[id]!, records)
  const left = { ...position.left, crashes: position.left.crashes - 1 }
  return move(
    { ...position, states },
    contexts,
    id,
    { type: 'start', now: 0, incarnation: 1, random: 'r' },
    left,
  )
}

function keyOf({ to, from, message: { body } }: { to: number; from: number; message: LockEnvelope }): string {
  const value = 'value' in body && body.value !== undefined ? digestOf(body.value) : ''
  const ballot = 'ballot' in body ? body.ballot : 'promised' in body ? body.promised : ''
  const accepted = body.type === 'promise' && body.accepted !== null ? body.accepted : null
  const found = accepted === null ? '' : `${accepted.ballot} ${digestOf(accepted.value)}`
  return `${from} ${to} ${body.type} ${ballot} ${value} ${found}`
}

function fingerprint({ states, net, left }: Position): string {
  const parts: unknown[] = [left, [...net.keys()].sort()]
  for (const state of states.slice(1)) {
    const {
      wish,
      configures,
      askers,
      isStuck,
      isWaitingForFirst,
      proposal,
      attempts,
      highestBallot,
      acting,
      isFirstBound,
    } = state.soft
    const requests = configures.map(({ request }) => request)
    parts.push(short(state.birth), wish, requests, askers, isStuck, isWaitingForFirst)
    parts.push(proposal && { ...proposal, value: nameOf(proposal.value) }, attempts, highestBallot, acting)
    parts.push(isFirstBound)
  }
  return hashText(JSON.stringify(parts, plain))
}

const nameOf = (value: LockValue | null): string | null => (value === null ? null : digestOf(value))

function short({ promised, accepted, chosen, ballot }: BirthRecord): unknown {
  return [promised, accepted && [accepted.ballot, digestOf(accepted.value)], nameOf(chosen), ballot]
}

const plain = (_key: string, value: unknown): unknown =>
  value instanceof Map ? [...value].sort() : value instanceof Set ? [...value].sort() : value
