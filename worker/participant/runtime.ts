/**
 * Everything that a participant needs from where it runs. The Durable Object (durable-object.ts) is one such
 * place, the simulator another. All decisions are made above this: an implementation is as simple as it can
 * be.
 *
 * A participant does its work in turns (core/turns.ts): it touches its storage, runs without waiting for
 * anything, writes what must be remembered in one transaction, and only then lets anything leave.
 */
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import type { LogEntry } from '../../shared/log.ts'
import type { Caller } from './observe/callers.ts'
import type { PeerAnswer, PeerRequest } from './peers/requests.ts'

export interface Runtime {
  readonly rows: Rows
  readonly alarm: Alarm
  readonly timeout: Timeout
  readonly peers: Peers
  readonly sockets: Sockets
  /**
   * Milliseconds, by a clock that may jump and that differs from every other one. In one instance it never
   * goes back: when the machine's clock is set back, this one stands still until the machine's has caught up
   * with it (core/clock.ts).
   */
  now(): number
  /** From 0 (possible) to 1 (not). */
  random(): number
  /** 128 random bits as hexadecimal digits. */
  randomId(): string
  /** The instance is kept alive for this (`waitUntil`). Work that rejects is logged and forgotten. */
  background(work: Promise<void>): void
  /**
   * The instance is over: nothing that it does after this leaves it, and every caller that waits for its
   * answer gets an error. Storage keeps what was committed; the next request finds a new instance.
   */
  abort(reason: string): void
  /** One line of the log. */
  log(entry: LogEntry): void
}

/** The one alarm of an instance. It may come early, late or twice, and survives the instance. */
export interface Alarm {
  /**
   * Moves it if it is set. It comes no earlier than `now()`, and only when the machine's clock says that it
   * is time.
   */
  set(at: number): void
}

/** The one timeout of an instance, which ends with it. It costs nothing but memory. */
export interface Timeout {
  /** Replaces the one before. `run` is not called in a turn. */
  set(afterMs: number, run: () => void): void
}

export interface Peers {
  /** Rejects if there is no proper answer within the limit: the request may have arrived all the same. */
  ask(lock: string, place: ParticipantPlace, request: PeerRequest, limitMs: number): Promise<PeerAnswer>
}

// ---------------------------------------------------------------- storage

/**
 * Storage as rows, synchronous. What was written is durable before anything that leaves the instance later
 * (output gates). Every call may throw: when the disk is full or read-only, or when another instance has
 * superseded this one.
 */
export interface Rows {
  readonly journal: JournalRows
  readonly segments: SegmentRows
  readonly steps: StepRows
  readonly older: OlderRows
  /**
   * Throws in an instance that was superseded by another one, and costs next to nothing. Returns the time by
   * the machine's own clock, which may have been set back.
   */
  touch(): number
  /**
   * Everything that `run` writes is written, or nothing is: if `run` throws, or if the instance ends before
   * this returns.
   */
  transaction(run: () => void): void
  /** Removes all rows but the mark of older layouts. Must be called in a transaction. */
  empty(): void
}

/** The journal is a ring: a row overwrites the one that was at its place before. */
export interface JournalRows {
  put(place: number, number: number, body: string): void
  get(place: number): { readonly number: number; readonly body: string } | undefined
}

export interface SegmentRows {
  put(id: number, body: string): void
  get(id: number): string | undefined
  delete(ids: readonly number[]): void
}

/** A number of steps of the history from `first` on, and the highest sequence among them. */
export interface StepBlock {
  readonly first: number
  readonly steps: number
  readonly sequence: number
  readonly body: string
}

/** Without its body, whose length as UTF-8 is `bytes`. */
export type StepBlockHead = Omit<StepBlock, 'body'> & { readonly bytes: number }

export interface StepRows {
  append(block: StepBlock): void
  /**
   * At most `limit` blocks in order, beginning with the one that holds this step or would hold it. Only
   * blocks with higher sequences than this.
   */
  page(first: number, afterSequence: number, limit: number): StepBlock[]
  oldest(): StepBlockHead | undefined
  /** The highest sequence of all blocks; 0 if there are none. */
  highestSequence(): number
  delete(first: number): void
}

/** The rows of the first layout: one for each record, and one for each step. */
export interface OlderRows {
  /** Whether any of it is there, or a mark of what replaced it. */
  isThere(): boolean
  records(): Iterable<readonly [key: string, value: string]>
  events(): Iterable<{ readonly sequence: number; readonly body: string }>
  /**
   * Removes all of it. A version that knows no other layout finds one record with a value that it cannot
   * read, and ends: otherwise it would take an existing lock for a new one.
   */
  replaceBy(key: string, value: string): void
}

// ---------------------------------------------------------------- streams

/** WebSockets that outlive the instance (hibernation). Each has the tag that it was accepted with. */
export interface Sockets {
  all(): readonly Socket[]
  withTag(tag: string): Socket | undefined
}

export interface Socket {
  readonly tag: string
  /** Does nothing on a socket that is closing: its close event comes. */
  send(text: string): void
  close(code: number, reason: string): void
  /** Bytes that were sent and have not left yet; `null` if the platform does not tell. */
  bufferedBytes(): number | null
  /**
   * When the platform last answered a ping for the instance, which does not wake it; `null` if it never did.
   */
  lastPing(): number | null
  /** A few values that outlive the instance, with the socket. */
  attachment(): SocketAttachment | null
  attach(attachment: SocketAttachment): void
}

export interface SocketAttachment {
  /** When the client last said something. */
  readonly heardAt: number
  /** The time to live that it asked for. */
  readonly ttlMs: number | null
  /** How long its last `try` may wait, if it said that. */
  readonly waitMs?: number
  /** Bytes that were sent since the client last said that it has read everything. */
  readonly unreadBytes: number
  /** Identifies the client's key, if there are keys. */
  readonly client?: string
  /** Who opened it, for the log. */
  readonly caller?: Caller
  /** The location that is nearest to the client, if that is known. */
  readonly near?: string
  /** Whether the key of the session allows to read. */
  readonly mayRead?: boolean
  /** How many calls of the session are under way. */
  readonly calls?: number
  /** Set when the client was asked whether it reads, with the number of bytes unread at that time. */
  readonly probe: { readonly id: string; readonly unreadBytes: number } | null
}

/** Where the events for one watcher go. */
export interface Sink {
  write(text: string): void
  /** Bytes that were written and not read yet. */
  unreadBytes(): number
  /** The watcher is told that its stream is broken, so that it resumes elsewhere or later. */
  fail(reason: string): void
}
