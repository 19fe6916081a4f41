/**
 * Storage from before locks were born by agreement, and before logs had digests (commit d204fbb). Each
 * participant brings its own up to date by itself, whenever it is next woken, and whatever its log holds. So
 * everything that is added here follows from what all of them have: the configuration that they agreed on.
 *
 * The birth. What the registrars chose then is chosen now: the configuration, with a mark that says that this
 * lock is older (value.ts). A registrar that has only voted keeps its vote, because single-decree Paxos goes
 * on as it is. One that has only been asked something must not begin the lock alone, because others may have
 * begun it long ago: a promise keeps it from that. Where there are ledgers, they are asked before the core
 * goes on (entitlement.ts).
 *
 * The digests. They run from the first entry on, which nobody has any more, so no entry from then has one
 * (running-digest.ts).
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { BIRTH, blankBirth } from '../../../shared/birth/lock-state.ts'
import type { BirthRecord } from '../../../shared/birth/lock-types.ts'
import type { LockValue } from '../../../shared/birth/value.ts'
import type { Json } from '../../../shared/json.ts'
import { EMPTY_LOG, UNDIGESTED } from '../../../shared/protocols/running-digest.ts'
import { weight } from '../../../shared/resource/canonical.ts'
import { LEDGER_NAME } from '../ledger/name.ts'
import { UnknownLayout } from './unknown-layout.ts'

const IDENTITY = '.identity'
const CONFIGURATION = '.configuration'
const REGISTRAR = '.registrar'
/** Only a participant that takes part in its lock has it. */
const MEMBERSHIP = 'membership'

type Fields = { readonly [name: string]: Json }
type Records = ReadonlyMap<string, string>

/** Above ballot 0, and below all that anybody uses. */
const LOWEST_BALLOT = 1

interface Registrar {
  readonly promised: number
  readonly accepted: { readonly ballot: number; readonly value: LockConfiguration } | null
}

const NO_VOTE: Registrar = { promised: 0, accepted: null }

export function isBeforeBirths(records: Records): boolean {
  if (records.has(BIRTH)) return false
  return records.has(CONFIGURATION) || records.has(REGISTRAR) || isBarelyKnown(records)
}

/** A participant that knows which one it is, and nothing of its lock. */
function isBarelyKnown(records: Records): boolean {
  const identity = parsed<{ readonly lock: string }>(records, IDENTITY)
  const isOwn = [...records.keys()].every(key => key.startsWith('.'))
  return isOwn && identity !== undefined && identity.lock !== LEDGER_NAME
}

/** The records as this version would have written them. */
export function withBirth(records: Records): Records {
  const changed = new Map<string, string>()
  for (const [key, text] of records)
    if (key !== CONFIGURATION && key !== REGISTRAR) changed.set(key, withDigests(key, text))
  changed.set(BIRTH, JSON.stringify(birthOf(records)))
  return changed
}

// ---------------------------------------------------------------- the birth

function birthOf(records: Records): BirthRecord {
  const birth = blankBirth(1, 0)
  const configuration = parsed<LockConfiguration>(records, CONFIGURATION)
  // Nobody was told of a configuration that was not chosen.
  if (configuration !== undefined) {
    const value = chosenValue(configuration)
    return { ...birth, chosen: value, core: records.has(MEMBERSHIP) ? value : null }
  }
  if (records.has(MEMBERSHIP)) {
    throw new UnknownLayout(
      'This storage takes part in a lock and does not say in which one: no version of Baton writes that. ' +
        'Nothing was changed.',
    )
  }
  const { promised, accepted } = parsed<Registrar>(records, REGISTRAR) ?? NO_VOTE
  return {
    ...birth,
    promised: Math.max(promised, LOWEST_BALLOT),
    ballot: promised,
    accepted: accepted && { ballot: accepted.ballot, value: chosenValue(accepted.value) },
  }
}

const chosenValue = (configuration: LockConfiguration): LockValue => ({
  configuration,
  startEpoch: 0,
  isOlder: true,
})

function parsed<Value>(records: Records, key: string): Value | undefined {
  const text = records.get(key)
  return text === undefined ? undefined : (JSON.parse(text) as Value)
}

// ---------------------------------------------------------------- the logs

/** The records of all protocols have names of their own, or are as they were. */
function withDigests(key: string, text: string): string {
  const slash = key.indexOf('/')
  const change = CHANGES[slash === -1 ? key : key.slice(0, slash)]
  return change === undefined ? text : JSON.stringify(change(JSON.parse(text) as Fields))
}

const CHANGES: { readonly [family: string]: (record: Fields) => Fields } = {
  log: entry => ({ digest: UNDIGESTED, ...weighed(entry) }),
  base: base => ({ digest: digestAt(base.sequence as number), ...base }),
  machine: machine => ({ digest: digestAt(machine.applied as number), ...machine }),
  lane: lane => ({ ...lane, command: lane.command === null ? null : weighed(lane.command as Fields) }),
  paxos: paxos => ({ ...paxos, accepted: paxos.accepted === null ? null : ballot(paxos.accepted as Fields) }),
  stub,
}

const digestAt = (place: number): string => (place === 0 ? EMPTY_LOG : UNDIGESTED)

/** A decision of the epoch's consensus. */
function ballot(accepted: Fields): Fields {
  const value = accepted.value as Fields
  const entries = (value.entries as readonly Fields[]).map(entry => CHANGES.log!(entry))
  return { ...accepted, value: { digest: digestAt(value.base as number), ...value, entries } }
}

/**
 * The end of a grant says where the grant was in the log, so that a later question about an operation can be
 * answered with certainty. Here it says the beginning: such an operation is `unknown` a little sooner.
 */
function stub(record: Fields): Fields {
  const pending = record.pendingOperation as Fields | null | undefined
  const endings = record.endings as readonly Fields[] | undefined
  return {
    ...record,
    ...(pending && { pendingOperation: weighed(pending) }),
    ...(endings && { endings: endings.map(ending => ({ sequence: 0, ...ending })) }),
  }
}

/** Whatever has an operation also says what it weighs: an entry, a command, or the entry of a command. */
function weighed(record: Fields): Fields {
  if (record.command !== undefined) return { ...record, command: weighed(record.command as Fields) }
  if (record.operation === undefined || record.weight !== undefined) return record
  return { ...record, weight: weight(record.operation, Number.POSITIVE_INFINITY) }
}
