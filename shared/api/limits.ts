/** Every limit of the API in one place: schemas, documentation and tests take them from here. */
import { DEFAULT_LIMITS, MAX_PARTICIPANT_NUMBER } from '../protocols/protocol.ts'
import { MAX_DEPTH } from '../resource/canonical.ts'
import { KEY_VALUE_LIMITS } from '../resource/key-value.ts'

/** What is around the value of an op: the op itself, and the list of ops. */
export const OP_DEPTH = 2

export const API_LIMITS = {
  /** Characters of a lock's name. */
  lockNameLength: 64,
  /** Of what a client calls itself. */
  ownerLength: 128,
  /** UTF-16 code units of a key of the built-in resource. */
  keyLength: KEY_VALUE_LIMITS.keyLength,
  /** Of one value; a unit of weight is about one character of JSON. */
  valueWeight: KEY_VALUE_LIMITS.valueWeight,
  /** The limit for all values together that the `get` ops of one batch return. */
  readWeight: KEY_VALUE_LIMITS.readWeight,
  opsPerBatch: KEY_VALUE_LIMITS.opsPerBatch,
  /** The limit for all ops of a batch together. */
  batchWeight: DEFAULT_LIMITS.operationWeight,
  /** How deep lists and objects may be inside each other in a value; what is around it counts, too. */
  depth: MAX_DEPTH - OP_DEPTH,
  opIdLength: 128,
  /** A body of this many bytes holds the heaviest batch in its longest spelling. */
  bodyBytes: 2 * 1024 * 1024,
  /**
   * An export holds the whole state of a lock, and all results that it remembers: a unit of weight has six
   * bytes in its longest spelling, and the limits of both are soft. Cloudflare takes 100 MB on most plans.
   */
  importBytes: 128 * 1024 * 1024,
  waitMs: { least: 0, most: 25_000, default: 10_000 },
  /** A session waits without a request that stays open: it may wait for a day. */
  sessionWaitMs: { least: 0, most: 86_400_000 },
  ttlMs: { least: 1_000, most: 600_000, default: 30_000 },
  participants: { least: 1, most: 13 },
  /** No number is used twice, so those of participants that came later are higher. */
  participantNumber: { least: 1, most: MAX_PARTICIPANT_NUMBER },
  heartbeatMs: { least: 50, most: 60_000 },
  timeoutMs: { least: 100, most: 600_000 },
  localHandoffs: { least: 0, most: 1_000 },
  /** Keys on one page of a listing. */
  listLimit: { least: 1, most: 1_000, default: 100 },
  /**
   * The limit for the entries on one page of a listing; one that is heavier by itself has a page of its own.
   */
  listWeight: 1024 * 1024,
  cursorLength: 4_096,
  /** The limit for one page of an export, between participant and router. */
  exportPageWeight: 256 * 1024,
  /** An export is over if the lock has forgotten so much of what is still to be read of the results. */
  exportForgottenWeight: 1_000_000,
  /** Events of each participant on one page of a history. */
  historyLimit: { least: 1, most: 1_000, default: 1_000 },
  /** Of all keys and values that a lock guards. Soft: it is checked against the copy of one participant. */
  stateWeight: 8 * 1024 * 1024,
  /** Operations whose results are remembered, so that each is applied once. */
  resultsKept: DEFAULT_LIMITS.resultsKept,
  /** Of all results that are remembered. Soft, like that of the state. */
  resultsWeight: 8 * 1024 * 1024,
  /**
   * Users that wait at one participant, with or without a ticket; as many linearizable reads and operators'
   * requests.
   */
  waiters: DEFAULT_LIMITS.waiters,
  /** Requests to configure one lock that wait at one participant for its creation. */
  configuring: 64,
  /** A ticket that nobody asks for is withdrawn after this. */
  ticketMs: 60_000,
  /** A grant that was given after waiting ends after this, unless its answer was taken or it is used. */
  untakenMs: 5_000,
  /** How long a withdrawn user is kept out, in case its `acquire` arrives after its withdrawal. */
  withdrawnMs: 60_000,
  /** Withdrawn users that a participant remembers. */
  withdrawals: 1_000,
  watchersPerParticipant: 1_000,
  /** A watcher that is this far behind what has happened since it came is disconnected, and can resume. */
  unreadBytes: 1024 * 1024,
  /** Of all watchers together; beyond it, and after a gap, a watcher gets what it missed as it reads. */
  unreadWatchersBytes: 4 * 1024 * 1024,
  sessionsPerParticipant: 1_000,
  /** A session that was sent more than this since its client last answered a probe is closed. */
  unreadSessionBytes: 4 * 1024 * 1024,
  /** The limit for all sessions together; beyond it the one that is furthest behind is closed. */
  unreadSessionsBytes: 8 * 1024 * 1024,
  /** Locks whose participants one `GET /metrics` asks. */
  locksPerScrape: 20,
  /** Calls that a participant has taken and not answered yet. */
  callsInFlight: 2_000,
  /** Of their operations together. */
  callsWeight: 4 * 1024 * 1024,
  /**
   * The limit for the history and for what watchers can resume from, for each step that is kept
   * (`BATON_EVENTS_KEPT`).
   */
  bytesPerEventKept: 1024,
  /** A request that has more wrong with it than this says so for the first of them only. */
  errorsListed: 20,
} as const

/** Where a Durable Object can be asked to live: Cloudflare's location hints. */
export const LOCATIONS = [
  'wnam',
  'enam',
  'sam',
  'weur',
  'eeur',
  'apac',
  'apac-ne',
  'apac-se',
  'oc',
  'afr',
  'me',
] as const

export type Location = (typeof LOCATIONS)[number]
