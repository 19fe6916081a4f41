/** Users of a nice run, and what is counted of what they do. */
import {
  DEFAULT_TIMING,
  type Emitted,
  type Mode,
  type ParticipantId,
  type UserInput,
} from '../../shared/protocols/protocol.ts'
import { type Counted, DELAY_MS, NiceRun, OPERATION, type Sent, type Setting, type Told } from './nice-run.ts'

export interface Figure {
  readonly value: number
  /** For a time: how long nothing was on its way, because something waited for a message to ride on. */
  readonly waitedMs: number
}

export interface Figures {
  /** Message delays until the user is told. */
  readonly steps: Figure
  /** Message delays until all replicas have applied the operation. */
  readonly applied?: Figure
  /** Messages that were sent before the user was told. */
  readonly before?: Figure
  /** Messages until the lock is quiet again. */
  readonly messages: Figure
  /** `fetch` requests between objects. */
  readonly requests: Figure
  readonly rows: Figure
  readonly sent: readonly Sent[]
}

/** A protocol with its options, and its users. */
export interface Subject {
  readonly setting: Setting
  /** The participant that enters, if nothing else is said. */
  readonly requester: ParticipantId
  readonly guardsState: boolean
  readonly mode?: Mode
}

type Crit = Extract<Emitted, { type: 'crit' }>

export const figure = (value: number, waitedMs = 0): Figure => ({ value, waitedMs })

// ---------------------------------------------------------------- users

export class Users {
  readonly run: NiceRun
  private readonly subject: Subject
  private names = 0

  constructor(subject: Subject) {
    this.subject = subject
    this.run = new NiceRun(subject.setting)
  }

  wish(): UserInput {
    const { mode } = this.subject
    return { type: 'try', user: `u-${++this.names}`, ttlMs: 1_000_000, ...(mode && { mode }) }
  }

  issue({ user, fence }: Crit): UserInput {
    return { type: 'issue', user, fence, opId: `op-${++this.names}`, operation: OPERATION }
  }

  /** The last grant of this participant. */
  held(participant: ParticipantId): Crit {
    const crit = this.run.told.findLast(
      told => told.participant === participant && told.event.type === 'crit',
    )
    if (crit === undefined) throw new Error(`${participant} was not let in`)
    return crit.event as Crit
  }

  enter(participant: ParticipantId): void {
    this.run.user(participant, this.wish())
    this.run.settle()
  }

  exit(participant: ParticipantId): void {
    const { user, fence } = this.held(participant)
    this.run.user(participant, { type: 'exit', user, fence })
  }

  /**
   * A user that is let in does one operation, if there is something to operate on, and leaves; then it does
   * what `next` says.
   */
  cycle(next: () => UserInput | null): void {
    this.run.reaction = (_, event) => {
      if (event.type === 'crit' && this.subject.guardsState) return this.issue(event)
      if (event.type === 'crit' || event.type === 'outcome')
        return { type: 'exit', user: event.user, fence: event.fence }
      return event.type === 'rem' ? next() : null
    }
  }
}

// ---------------------------------------------------------------- counting

/** Acts, waits until the lock is quiet, and counts from the act on. */
export function measure(users: Users, answer: Emitted['type'], by: ParticipantId, act: () => void): Figures {
  const { run } = users
  const { now, counted, told: toldBefore } = run
  const past = toldBefore.length
  act()
  run.settle()
  const told = run.told.slice(past)
  const sent = run.sent.slice(counted.messages)
  const answered = told.find(({ participant, event }) => participant === by && event.type === answer)
  if (answered === undefined) throw new Error(`${by} was not told ${answer}`)
  const delays = ({ at, waitedMs }: Told): Figure => figure((at - now - waitedMs) / DELAY_MS, waitedMs)
  const lastApplied = told.findLast(({ event }) => event.type === 'applied')
  return {
    steps: delays(answered),
    ...(lastApplied && { applied: delays(lastApplied) }),
    before: figure(sent.filter(({ at }) => at < answered.at).length),
    ...each(counted, run.counted, 1),
    sent,
  }
}

export function each(
  from: Counted,
  to: Counted,
  times: number,
): Pick<Figures, 'messages' | 'requests' | 'rows'> {
  return {
    messages: figure((to.messages - from.messages) / times),
    requests: figure((to.requests - from.requests) / times),
    rows: figure((to.rows - from.rows) / times),
  }
}

export const WARM_UP = 4

/**
 * As many operations of two delays each as there are from one message to a participant that lags (wme-2,
 * majority first) to the next.
 */
export const MEASURED = DEFAULT_TIMING.flushMs / (2 * DELAY_MS) + 1

/**
 * For something that is repeated without a pause: the mean of `MEASURED` times, once it has become the same
 * each time.
 */
export function measureInARow(
  users: Users,
  answer: Emitted['type'],
  by: ParticipantId,
  act: () => void,
): Figures {
  const { run } = users
  const past = run.told.length
  act()
  run.settle()
  const answers = run.told
    .slice(past)
    .filter(({ participant, event }) => participant === by && event.type === answer)
  const [first, last] = [answers[WARM_UP - 1]!, answers[WARM_UP + MEASURED - 1]!]
  const sent = run.sent.slice(first.counted.messages, last.counted.messages)
  const steps = figure((last.at - first.at) / DELAY_MS / MEASURED)
  return { steps, ...appliedAfter(run, first), ...each(first.counted, last.counted, MEASURED), sent }
}

/**
 * For the operation that is issued when another one has this outcome: the delays until every replica has
 * applied it.
 */
function appliedAfter(run: NiceRun, { at, event }: Told): Pick<Figures, 'applied'> {
  if (event.type !== 'outcome') return {}
  const next = run.told.find(told => told.event.type === 'outcome' && told.event.sequence > event.sequence)!
  const { opId } = next.event as typeof event
  const last = run.told.findLast(told => told.event.type === 'applied' && told.event.opId === opId)!
  const { waitedMs } = last
  return { applied: figure((last.at - at - waitedMs) / DELAY_MS, waitedMs) }
}

/** Calls `next` a number of times, then returns nothing. */
export function inARow(next: () => UserInput): () => UserInput | null {
  let left = WARM_UP + MEASURED
  return () => (left-- > 0 ? next() : null)
}
