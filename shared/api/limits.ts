/** Every limit of the API in one place: schemas, documentation and tests take them from here. */
import { DEFAULT_LIMITS } from '../protocols/protocol.ts'
import { MAX_DEPTH } from '../resource/canonical.ts'
import { KEY_VALUE_LIMITS } from '../resource/key-value.ts'

export const API_LIMITS = {
  /** Characters of a lock's name. */
  lockNameLength: 64,
  /** UTF-16 code units of a key of the built-in resource. */
  keyLength: KEY_VALUE_LIMITS.keyLength,
  /** Of one value; a unit of weight is about one character of JSON. */
  valueWeight: KEY_VALUE_LIMITS.valueWeight,
  opsPerBatch: KEY_VALUE_LIMITS.opsPerBatch,
  /** Of all ops of a batch together. */
  batchWeight: DEFAULT_LIMITS.operationWeight,
  /** How deep lists and objects may be inside each other. */
  depth: MAX_DEPTH,
  opIdLength: 128,
  /** A body of this many bytes holds the heaviest batch in its longest spelling. */
  bodyBytes: 2 * 1024 * 1024,
  waitMs: { least: 0, most: 25_000, default: 10_000 },
  /** A session waits without a request that stays open: it may wait for a day. */
  sessionWaitMs: { least: 0, most: 86_400_000 },
  ttlMs: { least: 1_000, most: 600_000, default: 30_000 },
  participants: { least: 1, most: 13 },
  heartbeatMs: { least: 50, most: 60_000 },
  timeoutMs: { least: 100, most: 600_000 },
  localHandoffs: { least: 0, most: 1_000 },
  /** Keys on one page of a listing. */
  listLimit: { least: 1, most: 1_000, default: 100 },
  cursorLength: 4_096,
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
