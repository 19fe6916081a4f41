/**
 * Whether a JSON object is the header or an event of a history, field by field. Unknown fields are left
 * alone. The tables name every field of events.ts once; the compiler makes sure that no event type is
 * missing.
 */
import { show } from './compare.ts'
import type { HistoryEvent, HistoryHeader } from './events.ts'

/** The value, or a text that says what is wrong with it. */
export type CheckedHeader = HistoryHeader | string
export type CheckedEvent = HistoryEvent | string

/** Says what was expected, or `null` if the value is right. `undefined` stands for a missing field. */
type Check = (value: unknown, participants: number) => string | null

const isText: Check = value => (typeof value === 'string' ? null : 'a string')
const isTime: Check = value => (Number.isFinite(value) ? null : 'a number')
const isCount: Check = value => {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? null : 'a whole number from 0'
}
const isPositive: Check = value => {
  return Number.isSafeInteger(value) && (value as number) >= 1 ? null : 'a whole number from 1'
}
const isParticipant: Check = (value, participants) => {
  const inRange = Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= participants
  return inRange ? null : `a participant from 1 to ${participants}`
}
const isParticipants: Check = (value, participants) => {
  const right = Array.isArray(value) && value.every(item => isParticipant(item, participants) === null)
  return right ? null : `a list of participants from 1 to ${participants}`
}
/** Those that are named may be more than those that recorded something. */
const isMember = (value: unknown): boolean => {
  const { id, location } = (value ?? {}) as { readonly id?: unknown; readonly location?: unknown }
  return isPositive(id, 0) === null && (location === null || typeof location === 'string')
}
const isMembers: Check = value => {
  const right = Array.isArray(value) && value.length > 0 && value.every(isMember)
  return right ? null : 'a list of participants, each with its `id` and its `location`'
}
const isPresent: Check = value => (value === undefined ? 'a JSON value' : null)
const isOptionalCount: Check = value => (value === undefined ? null : isCount(value, 0))
const isOptionalTime: Check = value => (value === undefined ? null : isTime(value, 0))
const isOptionalText: Check = value => (value === undefined ? null : isText(value, 0))
const isOneOf = (...options: readonly unknown[]): Check => {
  return value => (options.includes(value) ? null : options.map(option => show(option)).join(' or '))
}
const isMode: Check = value => (value === undefined ? null : isOneOf('exclusive', 'shared')(value, 0))
const isOutcome = isOneOf('not-applied', 'unknown')
const isPending: Check = value => {
  if (value === undefined) return null
  const pending = value as { readonly opId?: unknown; readonly outcome?: unknown } | null
  const right =
    typeof pending === 'object' && typeof pending?.opId === 'string' && isOutcome(pending.outcome, 0) === null
  return right ? null : 'an object with `opId` and `outcome` ("not-applied" or "unknown")'
}

type Fields = readonly (readonly [field: string, check: Check])[]

const HEADER: Fields = [
  ['format', isOneOf(1)],
  ['protocol', isText],
  ['participants', isPositive],
  ['resource', isText],
  ['resultsKept', isCount],
  ['localHandoffs', isOptionalCount],
]

const MARK: Fields = [['at', isTime]]
const REPLICA: Fields = [...MARK, ['participant', isParticipant]]
const USER: Fields = [...REPLICA, ['user', isText]]
const INSIDE: Fields = [...USER, ['fence', isCount]]

const EVENTS: { readonly [Type in HistoryEvent['type']]: Fields } = {
  try: [...USER, ['mode', isMode], ['owner', isOptionalText]],
  crit: [
    ...INSIDE,
    ['epoch', isCount],
    ['mode', isMode],
    ['owner', isOptionalText],
    ['expiresAt', isOptionalTime],
  ],
  issue: [...INSIDE, ['opId', isText], ['operation', isPresent]],
  outcome: [...INSIDE, ['opId', isText], ['sequence', isCount], ['result', isPresent]],
  exit: INSIDE,
  rem: INSIDE,
  ejected: [...INSIDE, ['reason', isOneOf('suspected', 'expired', 'operator')], ['pending', isPending]],
  withdrawn: USER,
  crash: USER,
  invoke: [...REPLICA, ['sequence', isCount], ['fence', isCount], ['opId', isText], ['operation', isPresent]],
  response: [
    ...REPLICA,
    ['sequence', isCount],
    ['opId', isText],
    ['result', isPresent],
    ['hash', isOptionalText],
  ],
  restore: [...REPLICA, ['sequence', isCount], ['hash', isText]],
  restart: [...REPLICA, ['sequence', isCount]],
  wipe: REPLICA,
  members: [
    ...REPLICA,
    ['configuration', isPositive],
    ['members', isMembers],
    ['by', isOneOf('operator', 'follow')],
  ],
  calm: MARK,
  fault: MARK,
  healed: [...MARK, ['participants', isParticipants]],
  settled: MARK,
  end: MARK,
}

export function checkHeader(value: object): CheckedHeader {
  const problem = checkFields('the header', value, HEADER, 0)
  return problem ?? (value as HistoryHeader)
}

export function checkEvent(value: object, header: HistoryHeader): CheckedEvent {
  const type: unknown = 'type' in value ? value.type : undefined
  if (typeof type !== 'string') return 'an event needs a `type`, a string'
  if (!Object.hasOwn(EVENTS, type)) return `there is no event of type ${show(type)}`
  const problem = checkFields(
    `event \`${type}\``,
    value,
    EVENTS[type as HistoryEvent['type']],
    header.participants,
  )
  return problem ?? (value as HistoryEvent)
}

function checkFields(what: string, value: object, fields: Fields, participants: number): string | null {
  for (const [field, check] of fields) {
    const content = (value as { readonly [field: string]: unknown })[field]
    const expected = check(content, participants)
    if (expected === null) continue
    const got = content === undefined ? 'it is missing' : `it is ${show(content)}`
    return `${what}: \`${field}\` must be ${expected}; ${got}`
  }
  return null
}
