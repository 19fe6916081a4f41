/** The limits as people read them. docs/limits.md has this table, and a test compares the two. */
import { DEFAULT_LEDGER_LIMITS } from '../birth/ledger-types.ts'
import { API_LIMITS } from './limits.ts'
import { INDEX_LIMIT, INDEX_SHARDS } from './lock-index.ts'

/** What is limited, how much of it there may be, and what is answered beyond that. */
export type LimitRow = readonly [what: string, limit: string, beyond: string]

const L = API_LIMITS
const number = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')
const range = ({ least, most }: { readonly least: number; readonly most: number }): string =>
  `${number(least)} to ${number(most)}`
const seconds = (ms: number): string => `${number(ms / 1_000)} s`

const BAD_REQUEST = '`400 bad_request`'
const TOO_LARGE = '`413 too_large`'
const NOT_ISSUED = '`413 too_large`, outcome `not-applied`: it was not issued'
const TOO_MANY = '`429 too_many` with `Retry-After`'

export const LIMIT_ROWS: readonly LimitRow[] = [
  ['name of a lock', `${L.lockNameLength} characters`, BAD_REQUEST],
  ['`owner`', `${L.ownerLength} characters`, BAD_REQUEST],
  ['`opId`', `${L.opIdLength} characters`, BAD_REQUEST],
  ['key', `${L.keyLength} characters`, TOO_LARGE],
  ['value', `${number(L.valueWeight)} units`, TOO_LARGE],
  ['list that an `append` makes', `${number(L.valueWeight)} units`, '`200`, `applied: false`, `too_large`'],
  ['nesting of a value', `${L.depth} levels`, TOO_LARGE],
  ['ops in a batch', number(L.opsPerBatch), TOO_LARGE],
  ['batch', `${number(L.batchWeight)} units`, TOO_LARGE],
  [
    'what the `get`s of a batch read',
    `${number(L.readWeight)} units`,
    '`200`, `applied: false`, `too_large`',
  ],
  ['body of a request', `${number(L.bodyBytes)} bytes`, TOO_LARGE],
  ['message of a session', `${number(L.bodyBytes)} characters`, '`error` with `too_large`'],
  ['body of an import', `${number(L.importBytes)} bytes`, TOO_LARGE],
  ['state of a lock (soft)', `${number(L.stateWeight)} units`, NOT_ISSUED],
  [
    'results that a lock remembers',
    `the last ${number(L.resultsKept)} operations`,
    'the oldest is forgotten: asked for again, its outcome is `unknown`',
  ],
  ['their size (soft)', `${number(L.resultsWeight)} units`, NOT_ISSUED],
  ['keys on a page of a listing', range(L.listLimit), BAD_REQUEST],
  ['size of that page', `${number(L.listWeight)} units`, 'the page ends earlier, with a cursor'],
  ['events of each participant on a page of a history', range(L.historyLimit), BAD_REQUEST],
  ['`waitMs`', range(L.waitMs), BAD_REQUEST],
  ['`waitMs` of a `try` in a session', range(L.sessionWaitMs), '`error` with `bad_request`'],
  ['`ttlMs`', range(L.ttlMs), BAD_REQUEST],
  ['participants of a lock', range(L.participants), BAD_REQUEST],
  ['who waits at a participant, with or without a ticket', number(L.waiters), TOO_MANY],
  ['of these, one key', 'as many as are free: alone half of them, k keys a share of 1/(k+1) each', TOO_MANY],
  ['linearizable reads that a participant has under way', number(L.waiters), TOO_MANY],
  ['`PUT`s of one lock that wait at a participant for its creation', number(L.configuring), TOO_MANY],
  ['a ticket that nobody asks for', seconds(L.ticketMs), 'it is withdrawn: `404 no_such_ticket`'],
  [
    'a grant that was waited for, whose answer nobody took, and that nobody uses',
    seconds(L.untakenMs),
    'it has expired: `410 expired`',
  ],
  [
    'withdrawn waiters that a participant remembers',
    `${number(L.withdrawals)}, each for ${seconds(L.withdrawnMs)}`,
    'the oldest is forgotten; its `acquire`, should it come at last, is taken for a new one',
  ],
  ['watchers of a participant', number(L.watchersPerParticipant), TOO_MANY],
  ['what a watcher has not read yet', `${number(L.unreadBytes)} bytes`, 'it is disconnected, and can resume'],
  [
    'all of them together',
    `${number(L.unreadWatchersBytes)} bytes`,
    'it gets what it missed as it reads; one that reads nothing is disconnected',
  ],
  ['sessions of a participant, shared like places for waiting', number(L.sessionsPerParticipant), TOO_MANY],
  ['what a session has not read yet', `${number(L.unreadSessionBytes)} bytes`, 'it is closed with 1013'],
  [
    'all of them together',
    `${number(L.unreadSessionsBytes)} bytes`,
    'the one furthest behind is closed with 1013',
  ],
  ['locks named in a `GET /metrics`', number(L.locksPerScrape), BAD_REQUEST],
  ['calls that a participant has under way', number(L.callsInFlight), TOO_MANY],
  ['their operations together', `${number(L.callsWeight)} units`, `${TOO_MANY}, outcome \`not-applied\``],
  ['of these, one key', 'as of the places for waiting', TOO_MANY],
  [
    'locks that `GET /v1/locks` lists',
    `${number(INDEX_LIMIT)} of each of ${INDEX_SHARDS} parts of the names`,
    'they are there all the same, and are not listed',
  ],
  [
    'locks that a process of its own (`url`) takes part in',
    number(DEFAULT_LEDGER_LIMITS.locks),
    '`503 no_quorum`: no further lock is created with it',
  ],
  [
    'history, and what watchers resume from',
    `\`BATON_EVENTS_KEPT\` steps, each for ${number(L.bytesPerEventKept)} bytes`,
    'the oldest is forgotten; a watcher begins with a snapshot',
  ],
]

export function limitsTable(): string {
  const lines = LIMIT_ROWS.map(row => `| ${row.join(' | ')} |`)
  return ['| what | limit | beyond it |', '|---|---|---|', ...lines].join('\n')
}
