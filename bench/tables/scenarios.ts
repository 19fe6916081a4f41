/** What is measured: each scenario is a nice run of its own, and what is counted of it. */
import type { Emitted, Mode, ParticipantId, UserInput } from '../../shared/protocols/protocol.ts'
import { broadcastCounts } from '../../test/protocols/ricart-agrawala/broadcast-counts.ts'
import { type Counted, DELAY_MS, NiceRun, OPERATION, type Sent, type Setting, type Told } from './nice-run.ts'

export interface Figure {
  readonly value: number
  /** Of a time: how long nothing was on its way, because something waited for something to ride on. */
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

/** A protocol with its options, and who uses it. */
export interface Subject {
  readonly setting: Setting
  /** Who enters where nothing else is said. */
  readonly requester: ParticipantId
  readonly guardsState: boolean
  readonly mode?: Mode
}

type Crit = Extract<Emitted, { type: 'crit' }>

const figure = (value: number, waitedMs = 0): Figure => ({ value, waitedMs })

// ---------------------------------------------------------------- users

class Users {
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

  /** Who is let in does one operation, if there is something to operate on, and leaves; then it does what `next` says. */
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
function measure(users: Users, answer: Emitted['type'], by: ParticipantId, act: () => void): Figures {
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

function each(from: Counted, to: Counted, times: number): Pick<Figures, 'messages' | 'requests' | 'rows'> {
  return {
    messages: figure((to.messages - from.messages) / times),
    requests: figure((to.requests - from.requests) / times),
    rows: figure((to.rows - from.rows) / times),
  }
}

const WARM_UP = 4
const MEASURED = 8

/** Of what comes again and again without a pause: the mean of `MEASURED` times, once it has become the same each time. */
function measureInARow(users: Users, answer: Emitted['type'], by: ParticipantId, act: () => void): Figures {
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

/** The operation that is issued when another has this outcome: the delays until every replica has applied it. */
function appliedAfter(run: NiceRun, { at, event }: Told): Pick<Figures, 'applied'> {
  if (event.type !== 'outcome') return {}
  const next = run.told.find(told => told.event.type === 'outcome' && told.event.sequence > event.sequence)!
  const { opId } = next.event as typeof event
  const last = run.told.findLast(told => told.event.type === 'applied' && told.event.opId === opId)!
  const { waitedMs } = last
  return { applied: figure((last.at - at - waitedMs) / DELAY_MS, waitedMs) }
}

/** `next` for so many times, then nothing. */
function inARow(next: () => UserInput): () => UserInput | null {
  let left = WARM_UP + MEASURED
  return () => (left-- > 0 ? next() : null)
}

// ---------------------------------------------------------------- scenarios

/** Somebody wants in. The token, where there is one, is with participant 1, and nobody else wants it. */
function enter(subject: Subject): Figures {
  const users = new Users(subject)
  const { requester } = subject
  return measure(users, 'crit', requester, () => users.run.user(requester, users.wish()))
}

/** Participant 1 is inside, the requester waits: the time from the exit of the one, the messages from the try of the other. */
function enterHeld(subject: Subject): Figures {
  const users = new Users(subject)
  users.enter(1)
  const asked = users.run.counted
  users.run.user(subject.requester, users.wish())
  users.run.settle()
  const { steps, ...rest } = measure(users, 'crit', subject.requester, () => users.exit(1))
  return { ...rest, steps, ...each(asked, users.run.counted, 1) }
}

function leave(subject: Subject): Figures {
  const users = new Users(subject)
  users.enter(subject.requester)
  return measure(users, 'rem', subject.requester, () => users.exit(subject.requester))
}

function leaveWaitedFor(subject: Subject): Figures {
  const users = new Users(subject)
  const { requester } = subject
  users.enter(requester)
  users.run.user(requester === 1 ? 2 : 1, users.wish())
  users.run.settle()
  return measure(users, 'rem', requester, () => users.exit(requester))
}

/** One operation, and nothing after it. */
function operation(subject: Subject): Figures {
  const users = new Users(subject)
  const { requester } = subject
  users.enter(requester)
  const issue = users.issue(users.held(requester))
  return measure(users, 'outcome', requester, () => users.run.user(requester, issue))
}

/** One operation after the other in one stay: each is issued when the one before has its outcome. */
function operationsInARow(subject: Subject): Figures {
  const users = new Users(subject)
  const { requester } = subject
  users.enter(requester)
  const crit = users.held(requester)
  const next = inARow(() => users.issue(crit))
  users.run.reaction = (_, event) => (event.type === 'outcome' ? next() : null)
  return measureInARow(users, 'outcome', requester, () => users.run.user(requester, next()!))
}

/** One cycle after the other at one participant. */
function cyclesInARow(subject: Subject): Figures {
  const users = new Users(subject)
  const { requester } = subject
  const next = inARow(() => users.wish())
  users.cycle(next)
  return measureInARow(users, 'rem', requester, () => users.run.user(requester, next()!))
}

/** A cycle of a lock that was idle and is idle after. The one before was at participant `previous`. */
function cycleAfter(subject: Subject, previous: ParticipantId): Figures {
  const users = new Users(subject)
  users.cycle(() => null)
  for (let times = 0; times < WARM_UP; times++) users.enter(times % 2 === 0 ? subject.requester : previous)
  const { requester } = subject
  return measure(users, 'rem', requester, () => users.run.user(requester, users.wish()))
}

const cycleAlone = (subject: Subject): Figures => cycleAfter(subject, subject.requester)

const cycleElsewhere = (subject: Subject): Figures => cycleAfter(subject, subject.requester === 1 ? 2 : 1)

/** Participant 1 is inside and shares: the requester need not wait for it. */
function enterBesides(subject: Subject): Figures {
  const users = new Users(subject)
  users.enter(1)
  return measure(users, 'crit', subject.requester, () => users.run.user(subject.requester, users.wish()))
}

/** Everybody wants in at once, and leaves as soon as possible: the mean of one cycle. */
function everybodyAtOnce(subject: Subject): Figures {
  const users = new Users(subject)
  const { run } = users
  const { participants } = subject.setting
  run.reaction = (_, event) =>
    event.type === 'crit' ? { type: 'exit', user: event.user, fence: event.fence } : null
  const { now, counted } = run
  for (let participant = 1; participant <= participants; participant++) run.user(participant, users.wish())
  run.settle()
  const left = run.told.filter(({ event }) => event.type === 'rem')
  if (left.length !== participants) throw new Error('somebody was not let in')
  const steps = figure((left.at(-1)!.at - now) / DELAY_MS / participants)
  return { steps, ...each(counted, run.counted, participants), sent: run.sent.slice(counted.messages) }
}

/** Of that, what concerns the last participant, to which everybody else is preferred: its REQUESTs, and what it hears of them. */
function lastOfEverybody(subject: Subject): Figures {
  const figures = everybodyAtOnce(subject)
  const last = subject.setting.participants
  const sent = figures.sent.filter(({ from, to, message: { body } }) =>
    body.type === 'request' ? from === last : to === last,
  )
  return { ...figures, messages: figure(sent.length), sent }
}

/** Section 6.2 of Ricart and Agrawala: the same run on a medium with broadcast. */
function enterByBroadcast(subject: Subject): Figures {
  const figures = enter(subject)
  const sent = figures.sent as unknown as Parameters<typeof broadcastCounts>[0]
  return { ...figures, messages: figure(broadcastCounts(sent).total) }
}

export const SCENARIOS = {
  enter,
  enterHeld,
  enterBesides,
  enterByBroadcast,
  leave,
  leaveWaitedFor,
  operation,
  operationsInARow,
  cyclesInARow,
  cycleAlone,
  cycleElsewhere,
  everybodyAtOnce,
  lastOfEverybody,
} as const
