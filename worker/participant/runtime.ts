/**
 * What a participant needs from where it runs, and all that it needs. The Durable Object (durable-object.ts)
 * is one such place, the simulator another. Everything that is decided is decided above this: an
 * implementation is as dumb as it can be.
 *
 * A participant does its work in turns (core/turns.ts): it touches its storage, runs without waiting for
 * anything, writes what is to be remembered in one transaction, and only then lets something leave.
 */
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import type { PeerAnswer, PeerRequest } from './peers/requests.ts'

export interface Runtime {
  readonly rows: Rows
  readonly alarm: Alarm
  readonly peers: Peers
  readonly sockets: Sockets
  /**
   * Milliseconds, by a clock that may jump and that differs from everybody else's. In one instance it never
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
   * The instance is over: nothing that it does after this leaves it, and everybody who waits for an answer of
   * it gets an error. Storage keeps what was committed; the next request finds a new instance.
   */
  abort(reason: string): void
  log(line: string): void
}

/** The one alarm of an instance. It may come early, late or twice, and survives the instance. */
export interface Alarm {
  /** Moves it if it is set. It comes no earlier than `now()`, and when the machine's clock says that it is time. */
  set(at: number): void
}

export interface Peers {
  /** Rejects when there is no proper answer within the limit: the request may have arrived all the same. */
  ask(lock: string, place: ParticipantPlace, request: PeerRequest, limitMs: number): Promise<PeerAnswer>
}

// ---------------------------------------------------------------- storage

/**
 * Storage as rows, synchronous. What was written is durable before anything that leaves the instance later
 * (output gates). Every call may throw: when the disk is full or read-only, or when another instance has
 * superseded this one.
 */
export interface Rows {
  readonly records: RecordRows
  readonly events: EventRows
  /**
   * Throws in an instance that was superseded by another one, and costs next to nothing. Tells what the time
   * is by the machine's own clock, which may have been set back.
   */
  touch(): number
  /**
   * All that `run` writes is written, or nothing of it: if `run` throws, or if the instance ends before this
   * returns.
   */
  transaction(run: () => void): void
}

/** Text by key, in the order of the keys' UTF-8 bytes: not in the order in which it was written. */
export interface RecordRows {
  get(key: string): string | undefined
  put(records: readonly (readonly [key: string, value: string])[]): void
  delete(keys: readonly string[]): void
  /** The records whose keys begin with this. Nothing is written while they are read. */
  range(prefix: string): Iterable<readonly [key: string, value: string]>
}

export interface EventRow {
  readonly id: number
  readonly sequence: number
  readonly body: string
}

/** What happened, in its order. Ids grow; they are not used again while a row with a higher one is there. */
export interface EventRows {
  append(sequence: number, body: string): void
  /** At most `limit` rows with ids above `afterId` and sequences above `afterSequence`, by their ids. */
  page(afterId: number, afterSequence: number, limit: number): EventRow[]
  /** The rows without their bodies, newest first. `bytes` is the length of the body as UTF-8. */
  newestFirst(): Iterable<{ readonly id: number; readonly sequence: number; readonly bytes: number }>
  size(): { readonly rows: number; readonly bytes: number }
  /** Returns the highest sequence among the forgotten rows; 0 if there were none. */
  forgetThrough(id: number): number
}

// ---------------------------------------------------------------- streams

/** WebSockets that outlive the instance (hibernation). Each has a tag that it was accepted with. */
export interface Sockets {
  all(): readonly Socket[]
  withTag(tag: string): Socket | undefined
}

export interface Socket {
  readonly tag: string
  /** Does nothing on a socket that is closing: its close event comes. */
  send(text: string): void
  close(code: number, reason: string): void
  /** Bytes that were sent and have not left yet; `null` where the platform does not tell. */
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
  /** Bytes that were sent since the client last said that it has read everything. */
  readonly unreadBytes: number
  /** Of the client's key, where there are keys. */
  readonly client?: string
  /** The client was asked whether it reads, when so many bytes were unread. */
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
