/** Messages, records, inputs and events of `wme-1` and `wme-2` in words, one short line each. */
import type { Json } from '../../shared/json.ts'
import type { DurableRecord, Emitted, Input, Members, UserInput } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type {
  EndingRecord,
  Entry,
  EpochRecord,
  Membership,
  PaxosRecord,
  Progress,
  StubRecord,
  Waiter,
} from '../../shared/protocols/wme/state.ts'

export const name = (participant: number): string => `p${participant}`

/** A ballot is written as round.participant. */
const ballotOf = (ballot: number): string => `${Math.floor(ballot / 256)}.${ballot % 256}`

export function entryInWords(entry: Entry): string {
  const { sequence } = entry
  return entry.kind === 'grant' ? `#${sequence} grant to ${name(entry.to)}` : `#${sequence} ${entry.opId}`
}

/** The log up to `base`, and what follows. */
function logInWords(base: number, entries: readonly Entry[]): string {
  const rest = entries.length === 0 ? '' : ` and ${entries.map(entryInWords).join(', ')}`
  return `log up to #${base}${rest}`
}

// ---------------------------------------------------------------- messages

export function messageInWords(message: WmeMessage): string {
  const epoch = 'epoch' in message ? ` [epoch ${message.epoch}]` : ''
  return `${message.type}${suffix(bodyInWords(message))}${epoch}`
}

const suffix = (words: string): string => (words === '' ? '' : `: ${words}`)

function bodyInWords(message: WmeMessage): string {
  switch (message.type) {
    case 'request':
      return `number ${message.requestId} of ${name(message.participant)}`
    case 'invoke':
      return `${message.entries.map(entryInWords).join(', ')}; committed #${message.committed}`
    case 'invoke-ack':
      return `holds the log up to #${message.length}`
    case 'do-invoke':
      return `committed #${message.committed}`
    case 'ping':
    case 'alive':
      return `log up to #${message.length}`
    case 'pre-vote':
      return `is ${name(message.owner)} silent for you, too?`
    case 'pre-vote-reply':
      return 'yes, it is silent'
    case 'new-epoch':
      return `sealed; ${logInWords(message.committed, message.entries)}`
    case 'prepare':
    case 'accepted':
      return `ballot ${ballotOf(message.ballot)}`
    case 'promise':
      return `ballot ${ballotOf(message.ballot)}, ${message.accepted === null ? 'nothing' : 'something'} accepted before`
    case 'reject':
      return `ballot ${ballotOf(message.ballot)}, because ${ballotOf(message.promised)} is promised`
    case 'accept':
      return `ballot ${ballotOf(message.ballot)}, ${decisionInWords(message.value)}`
    case 'decision':
      return decisionInWords(message.value)
    case 'catch-up-request':
      return `has #${message.length}, committed #${message.committed}`
    case 'catch-up':
      return `${message.entries.map(entryInWords).join(', ')}; committed #${message.committed}`
    case 'join': {
      const { incarnation, position } = message
      return `incarnation ${incarnation}${position === undefined ? '' : `, has #${position.committed}`}`
    }
    case 'invite':
      return 'become a member'
    case 'change':
      return `members ${setInWords(message.change.members)}, please`
    case 'elsewhere':
      return message.set === undefined ? 'you are none of us' : `members ${setInWords(message.set.members)}`
    case 'handover':
      return 'are you in?'
    case 'installed':
      return 'yes, with everything before it'
    default:
      return ''
  }
}

function decisionInWords(value: Extract<WmeMessage, { type: 'decision' }>['value']): string {
  const back = Object.keys(value.incarnations).map(participant => `; ${name(Number(participant))} is back`)
  const others = value.set === undefined ? back.join('') : `; members ${setInWords(value.set.members)}`
  return `owner ${name(value.owner)}, ${logInWords(value.base, value.entries)}${others}`
}

const setInWords = (members: Members): string => Object.keys(members).map(Number).map(name).join(', ')

// ---------------------------------------------------------------- records

export function recordInWords({ key, value }: DurableRecord): string {
  if (value === null) return `${key} is forgotten`
  const [family, rest] = key.split('/') as [string, string | undefined]
  const words = WORDS[family]
  return words === undefined ? key : words(value, rest ?? '')
}

const record = <Value>(words: (value: Value, rest: string) => string) =>
  words as (value: Json, rest: string) => string

const WORDS: { readonly [family: string]: (value: Json, rest: string) => string } = {
  log: record<Entry>(entry => `entry ${entryInWords(entry)}`),
  stub: record<StubRecord>(({ phase, requestId, grant, pendingOperation }) => {
    const request = phase === 'requesting' ? ` with number ${requestId}` : ''
    const holder = grant === null ? '' : `, ${grant.user} has fence ${grant.fence}`
    const pending = pendingOperation === null ? '' : `, ${pendingOperation.opId} is pending`
    return `stub ${phase}${request}${holder}${pending}`
  }),
  epoch: record<EpochRecord>(({ epoch, owner, start, sealed, set, isHandedOver }) => {
    if (sealed) return `epoch ${epoch} is sealed`
    if (isHandedOver) return `a majority is in epoch ${epoch}`
    const members = set === undefined ? '' : `, members ${setInWords(set.members)}`
    return `epoch ${epoch} begins after #${start}, owner ${name(owner)}${members}`
  }),
  paxos: record<PaxosRecord>(({ promised, accepted }) =>
    accepted === null
      ? `promised ballot ${ballotOf(promised)}`
      : `accepted in ballot ${ballotOf(accepted.ballot)}`,
  ),
  waiter: record<Waiter>(({ user }) => `${user} waits`),
  membership: record<Membership>(membership =>
    membership.status === 'joining'
      ? `joining with incarnation ${membership.incarnation}${membership.isPrimed ? ', brought up to date' : ''}`
      : membership.status,
  ),
  progress: record<Progress>(({ applied }) => `applied up to #${applied}`),
  ending: record<EndingRecord>(({ user, reason }) => `how the grant of ${user} ended: ${reason}`),
  cell: record<{ value: { value: Json } }>(
    ({ value }, cell) => `${cell.slice(1)} = ${JSON.stringify(value.value)}`,
  ),
  result: record<Json>((_, opId) => `result of ${opId}`),
}

// ---------------------------------------------------------------- inputs and events

export function inputInWords(input: Input<WmeMessage>): string {
  switch (input.type) {
    case 'start':
      return `starts${input.genesis ? ', with the birth of the lock' : ` with incarnation ${input.incarnation}`}`
    case 'message':
      return `from ${name(input.from)}: ${messageInWords(input.message.body)}`
    case 'timer':
      return `timer ${input.timer}`
    case 'unreachable':
      return `${name(input.peer)} cannot be reached`
    case 'user':
      return eventInWords(input.event)
    default:
      return input satisfies never
  }
}

export function eventInWords(event: UserInput | Emitted): string {
  switch (event.type) {
    case 'issue':
      return `${event.user}: issue ${event.opId} under fence ${event.fence}`
    case 'crit':
      return `crit to ${event.user} with fence ${event.fence}${event.confirmed ? '' : ', not yet confirmed'}`
    case 'outcome':
      return `outcome of ${event.opId} to ${event.user}: ${JSON.stringify(event.result)}`
    case 'ejected': {
      const { pending } = event
      return `ejected to ${event.user}${pending === undefined ? '' : `; ${pending.opId} is ${pending.outcome}`}`
    }
    case 'applied':
      return `applied #${event.sequence} ${event.opId} to the replica`
    case 'granted':
      return `committed: the grant #${event.sequence} to ${name(event.to)}`
    case 'rem':
    case 'confirmed':
    case 'withdrawn':
      return `${event.type} to ${event.user}`
    case 'change-members':
      return `an operator: change-members to ${setInWords(event.members)}`
    case 'members-changed':
      return `members-changed to the operator: ${setInWords(event.members)}`
    case 'refused':
      return `${event.event} of ${event.user} is refused: ${event.refusal.code}`
    default:
      return 'user' in event ? `${event.user}: ${event.type}` : event.type
  }
}
