/**
 * Redlock, as its authors describe it: each participant has a lock of its own that ends after a time, and who
 * gets a majority of them before that is inside. Nothing is replicated and nothing is guarded. It is here to
 * be compared with: a user that stands still while its time passes goes on as if it were alone.
 */
import type {
  Context,
  Effect,
  Input,
  Protocol,
  ProtocolName,
  View,
} from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'

export type RedlockMessage =
  | { readonly type: 'lock'; readonly value: string; readonly ttlMs: number }
  | { readonly type: 'locked'; readonly value: string; readonly isMine: boolean }
  | { readonly type: 'unlock'; readonly value: string }

export interface RedlockState {
  /** The lock that this participant keeps for all. */
  kept: { readonly value: string; readonly until: number } | null
  readonly queue: { readonly user: string; readonly ttlMs: number }[]
  attempt: Attempt | null
  holder: {
    readonly user: string
    readonly value: string
    readonly fence: number
    readonly ttlMs: number
  } | null
  attempts: number
}

interface Attempt {
  readonly user: string
  readonly value: string
  readonly ttlMs: number
  readonly since: number
  granted: number
  refused: number
}

type Effects = Effect<RedlockMessage>[]

/** How long to wait for the answers of all. */
const ANSWER_MS = 80
const RETRY_MS = 60
/** Participants that failed together do not try again together. */
const RETRY_APART_MS = 17

export const redlock: Protocol<RedlockState, RedlockMessage> = {
  // It is no protocol of the service, and so has no name there.
  name: 'redlock' as ProtocolName,
  recover: () => ({ kept: null, queue: [], attempt: null, holder: null, attempts: 0 }),
  step,
  view,
  guarded: () => null,
  changesMembers: () => false,
}

function step(context: Context, state: RedlockState, input: Input<RedlockMessage>): Effects {
  const effects: Effects = []
  const stub = new Stub(context, state, input.now, effects)
  if (input.type === 'message') stub.onMessage(input.from, input.message.body)
  else if (input.type === 'timer') stub.tryAgain()
  else if (input.type === 'user') {
    const { event } = input
    if (event.type === 'try') stub.onTry(event.user, event.ttlMs)
    else if (event.type === 'exit') stub.onExit(event.user)
  }
  return effects
}

class Stub {
  readonly #context: Context
  readonly #state: RedlockState
  readonly #now: number
  readonly #effects: Effects

  constructor(context: Context, state: RedlockState, now: number, effects: Effects) {
    this.#context = context
    this.#state = state
    this.#now = now
    this.#effects = effects
  }

  onTry(user: string, ttlMs: number): void {
    const { queue, attempt, holder } = this.#state
    if (holder?.user === user || attempt?.user === user || queue.some(one => one.user === user)) return
    queue.push({ user, ttlMs })
    this.ask()
  }

  /** Asks everybody for the lock, for the first user that waits here. */
  ask(): void {
    const state = this.#state
    const first = state.queue[0]
    if (first === undefined || state.attempt !== null || state.holder !== null) return
    state.queue.shift()
    const value = `${this.#context.config.self}-${++state.attempts}`
    state.attempt = { ...first, value, since: this.#now, granted: 0, refused: 0 }
    this.#sendToAll({ type: 'lock', value, ttlMs: first.ttlMs })
    this.#effects.push({ type: 'set-timer', timer: 'retry', afterMs: ANSWER_MS })
    this.#onAnswer(value, this.#lock(value, first.ttlMs))
  }

  /** Whoever has no majority by now gives back what it has, and asks once more a little later. */
  tryAgain(): void {
    if (this.#state.attempt !== null) this.#giveUp(this.#state.attempt)
    else this.ask()
  }

  onMessage(from: number, message: RedlockMessage): void {
    if (message.type === 'lock') {
      const isMine = this.#lock(message.value, message.ttlMs)
      this.#send(from, { type: 'locked', value: message.value, isMine })
    } else if (message.type === 'unlock') this.#unlock(message.value)
    else this.#onAnswer(message.value, message.isMine)
  }

  #lock(value: string, ttlMs: number): boolean {
    const { kept } = this.#state
    if (kept !== null && kept.until > this.#now && kept.value !== value) return false
    this.#state.kept = { value, until: this.#now + ttlMs }
    return true
  }

  /** Only by whoever has it. */
  #unlock(value: string): void {
    if (this.#state.kept?.value === value) this.#state.kept = null
  }

  #onAnswer(value: string, isMine: boolean): void {
    const { attempt } = this.#state
    if (attempt === null || attempt.value !== value) return
    if (isMine) attempt.granted++
    else attempt.refused++
    const { participants } = this.#context.config
    const needed = majority(participants)
    if (attempt.granted >= needed && this.#now - attempt.since < attempt.ttlMs) this.#enter(attempt)
    else if (attempt.refused > participants - needed) this.#giveUp(attempt)
  }

  #enter({ user, value, ttlMs, since }: Attempt): void {
    // Redlock gives no number. For the history it is the time, which rises as well as any.
    const fence = this.#now
    this.#state.holder = { user, value, fence, ttlMs }
    this.#state.attempt = null
    this.#effects.push({ type: 'cancel-timer', timer: 'retry' })
    const expiresAt = since + ttlMs
    const event = { user, fence, epoch: 0, sequence: 0, expiresAt, confirmed: true }
    this.#effects.push({ type: 'emit', event: { type: 'crit', ...event } })
  }

  #giveUp({ user, ttlMs, value }: Attempt): void {
    this.#state.attempt = null
    this.#state.queue.unshift({ user, ttlMs })
    this.#unlockAll(value)
    const afterMs = RETRY_MS + RETRY_APART_MS * this.#context.config.self
    this.#effects.push({ type: 'set-timer', timer: 'retry', afterMs })
  }

  /** The user is heard whenever it comes: nobody asks whether its time was over. */
  onExit(user: string): void {
    const { holder } = this.#state
    if (holder?.user !== user) return
    this.#state.holder = null
    this.#effects.push({ type: 'emit', event: { type: 'rem', user, fence: holder.fence } })
    this.#unlockAll(holder.value)
    this.ask()
  }

  #unlockAll(value: string): void {
    this.#unlock(value)
    this.#sendToAll({ type: 'unlock', value })
  }

  #sendToAll(message: RedlockMessage): void {
    const { self, participants } = this.#context.config
    for (let peer = 1; peer <= participants; peer++) if (peer !== self) this.#send(peer, message)
  }

  #send(to: number, body: RedlockMessage): void {
    this.#effects.push({ type: 'send', to, message: { format: 1, configuration: 1, body } })
  }
}

function view({ config: { self } }: Context, { holder, attempt, queue }: RedlockState): View {
  const waiting = attempt === null ? queue : [attempt, ...queue]
  return {
    membership: 'member',
    phase: holder !== null ? 'inside' : waiting.length > 0 ? 'requesting' : 'idle',
    epoch: 0,
    sequence: holder?.fence ?? 0,
    committed: 0,
    owner: holder === null ? null : self,
    suspects: [],
    waiters: waiting.map(({ user }) => ({ user, waitUntil: null })),
    holders: holder === null ? [] : [{ ...holder, expiresAt: holder.fence + holder.ttlMs, isIssuing: false }],
    endings: [],
    cells: null,
  }
}
