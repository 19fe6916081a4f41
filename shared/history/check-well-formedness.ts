/**
 * H1, well-formedness (section 2): what a user and its stub say to each other is a prefix of
 *     S¹  try crit (issue outcome)* exit rem      or      S²  try crit (issue outcome)* [issue] ejected
 * again and again. We add two things: a waiting user may be `withdrawn`, and a `crash` ends the user wherever
 * it was. A retry after a lost answer is not an event of its own and does not appear.
 *
 * A lock that guards no state has no `issue` and `outcome`, and nothing is said to a replica. There an `exit`
 * may be answered with `ejected`: the grant had ended before, so its user was not inside for as long as it
 * thought.
 */
import { show } from './compare.ts'
import type { HistoryEvent, UserStubEvent } from './events.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

type Phase = 'outside' | 'trying' | 'inside' | 'issuing' | 'leaving' | 'crashed'

interface User {
  phase: Phase
  participant: number
  fence: number
  /** The pending operation while `issuing`. */
  opId: string
  /** The last event that was accepted: the other half of the evidence. */
  last: number | null
}

export function checkWellFormedness(events: readonly HistoryEvent[], guardsState = true): PropertyVerdict {
  const findings = new Findings(events)
  const phasesBefore = guardsState ? PHASES_BEFORE : PHASES_BEFORE_LOCK_ONLY
  const users = new Map<string, User>()
  let latest = Number.NEGATIVE_INFINITY
  for (const [index, event] of events.entries()) {
    if (event.at < latest)
      findings.violation(() => `time falls from ${latest} to ${event.at}`, index - 1, index)
    latest = Math.max(latest, event.at)
    if (!('user' in event)) {
      if (!guardsState && 'participant' in event && !OF_ANY_LOCK.has(event.type))
        findings.violation(() => `\`${event.type}\` of a lock that guards no state`, index)
      continue
    }
    const user = users.get(event.user) ?? outsider(event.participant)
    users.set(event.user, user)
    const { last } = user
    const problem = step(user, event, phasesBefore)
    if (problem !== null) findings.violation(() => `user ${show(event.user)}: ${problem}`, last, index)
    user.last = index
  }
  return findings.safety('well-formedness')
}

/** What a participant records besides what its users say, whatever the lock guards. */
const OF_ANY_LOCK: ReadonlySet<HistoryEvent['type']> = new Set(['wipe', 'members'])

function outsider(participant: number): User {
  return { phase: 'outside', participant, fence: 0, opId: '', last: null }
}

/**
 * Moves the user to where the event leaves it, and returns what is wrong with the event. The move happens
 * anyway, so that one misplaced event is one violation and not a series of them.
 */
function step(user: User, event: UserStubEvent, phasesBefore: PhasesBefore): string | null {
  const before = user.phase
  const problem = misplaced(user, event, phasesBefore) ?? misdirected(user, event)
  if (before === 'crashed') return problem
  user.phase = PHASE_AFTER[event.type]
  user.participant = event.participant
  if (event.type === 'crit' || event.type === 'issue') user.fence = event.fence
  if (event.type === 'issue') user.opId = event.opId
  return problem
}

const PHASE_AFTER: { readonly [Type in UserStubEvent['type']]: Phase } = {
  try: 'trying',
  crit: 'inside',
  issue: 'issuing',
  outcome: 'inside',
  exit: 'leaving',
  rem: 'outside',
  ejected: 'outside',
  withdrawn: 'outside',
  crash: 'crashed',
}

type PhasesBefore = { readonly [Type in UserStubEvent['type']]: readonly Phase[] }

const PHASES_BEFORE: PhasesBefore = {
  try: ['outside'],
  crit: ['trying'],
  issue: ['inside'],
  outcome: ['issuing'],
  exit: ['inside'],
  rem: ['leaving'],
  ejected: ['inside', 'issuing'],
  withdrawn: ['trying'],
  crash: ['outside', 'trying', 'inside', 'issuing', 'leaving'],
}

const PHASES_BEFORE_LOCK_ONLY: PhasesBefore = {
  ...PHASES_BEFORE,
  issue: [],
  outcome: [],
  ejected: ['inside', 'leaving'],
}

function misplaced(user: User, event: UserStubEvent, phasesBefore: PhasesBefore): string | null {
  if (phasesBefore[event.type].includes(user.phase)) return null
  return `\`${event.type}\` while ${user.phase}`
}

/**
 * The right event at the right time, but about another critical section or operation, or from another stub.
 */
function misdirected(user: User, event: UserStubEvent): string | null {
  if (event.type === 'crash') return null
  if (user.phase !== 'outside' && event.participant !== user.participant) {
    return `\`${event.type}\` at participant ${event.participant}, but the user talks to ${user.participant}`
  }
  if (event.type === 'try' || event.type === 'withdrawn' || event.type === 'crit') return null
  if (event.fence !== user.fence) {
    return `\`${event.type}\` for fence ${event.fence}, but the user is inside with ${user.fence}`
  }
  if (event.type === 'outcome' && event.opId !== user.opId) {
    return `\`outcome\` of ${show(event.opId)}, but ${show(user.opId)} is pending`
  }
  if (event.type !== 'ejected' || event.pending === undefined) return null
  if (user.phase !== 'issuing') return '`ejected` speaks of a pending operation, but none is pending'
  if (event.pending.opId === user.opId) return null
  return `\`ejected\` speaks of ${show(event.pending.opId)}, but ${show(user.opId)} is pending`
}
