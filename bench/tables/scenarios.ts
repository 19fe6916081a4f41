/** What is measured: each scenario is a nice run of its own. */
import type { ParticipantId } from '../../shared/protocols/protocol.ts'
import { broadcastCounts } from './broadcast-counts.ts'
import {
  each,
  type Figures,
  figure,
  inARow,
  measure,
  measureInARow,
  type Subject,
  Users,
  WARM_UP,
} from './measure.ts'
import { DELAY_MS } from './nice-run.ts'

/** One participant wants in. The token, if there is one, is with participant 1, and nobody else wants it. */
function enter(subject: Subject): Figures {
  const users = new Users(subject)
  const { requester } = subject
  return measure(users, 'crit', requester, () => users.run.user(requester, users.wish()))
}

/**
 * Participant 1 is inside, the requester waits: the time counts from the exit of the one, the messages from
 * the try of the other.
 */
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

/**
 * One operation after the other in one critical section: each is issued when the one before has its outcome.
 */
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

/** All participants want in at once, and leave as soon as possible: the mean of one cycle. */
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
  if (left.length !== participants) throw new Error('a participant was not let in')
  const steps = figure((left.at(-1)!.at - now) / DELAY_MS / participants)
  return { steps, ...each(counted, run.counted, participants), sent: run.sent.slice(counted.messages) }
}

/**
 * Of that, what concerns the last participant, to which all others are preferred: its REQUESTs, and what it
 * hears of them.
 */
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
