/**
 * A call is a conversation with the protocol, written as a generator: it asks a question (an event of a user,
 * and what is an answer to it), and goes on with the answer. It cannot wait for anything else. It goes on in
 * the very turn that brings the answer, after the step that brought it; so what it says next travels with
 * what that step sent.
 */
import type { Emitted, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import type { Member } from '../core/member.ts'
import type { Timer, Timers } from '../core/timers.ts'
import type { Turns } from '../core/turns.ts'

export interface Question {
  /** The user or the request that the answer is for. */
  readonly key: string
  /** What is said; `null`: nothing, because it was said elsewhere. */
  readonly say: UserInput | null
  /** When to go on without an answer. `AT_ONCE`: if saying it does not bring one. */
  readonly until: number
  /** Has no effect. `isOwn`: the event is of the step that `say` caused, and not of a later one. */
  readonly isAnswer: (event: UserOutput, isOwn: boolean) => boolean
  /** What to do if the client goes away meanwhile. The question stays. */
  readonly whenGone?: () => void
}

export const AT_ONCE = Number.NEGATIVE_INFINITY

/**
 * The key of a question that is answered when this replica applies the operation. No user has such a name.
 */
export const operationKey = (opId: string): string => `operation/${opId}`

/** `null`: there was no answer in time. */
export type Conversation<Result> = Generator<Question, Result, UserOutput | null>

export function* ask(question: Question): Conversation<UserOutput | null> {
  return yield question
}

/** A conversation that has begun. */
export interface Talk {
  /** The client has gone: nobody waits for the answer any more. Called in a turn. */
  leave(): void
}

/** One conversation, and what it has asked. */
interface Pending {
  readonly question: Question
  readonly goOn: (event: UserOutput | null) => void
  isOwn: boolean
  timer: Timer | null
}

export class Conversations {
  private readonly turns: Turns
  private readonly timers: Timers
  private readonly member: () => Member
  private readonly pending = new Map<string, Set<Pending>>()

  constructor(turns: Turns, timers: Timers, member: () => Member) {
    this.turns = turns
    this.timers = timers
    this.member = member
  }

  /** A turn of its own. Resolves with what the conversation returns, once that is written. */
  hold<Result>(begin: () => Conversation<Result>, signal: AbortSignal | null): Promise<Result> {
    return new Promise((resolve, reject) => {
      const onEnd = (result: Result) => this.turns.afterwards(() => resolve(result))
      try {
        this.turns.run(() => this.begin(begin(), onEnd, signal))
      } catch (error) {
        reject(error)
      }
    })
  }

  /**
   * In the turn that runs. `onEnd` is called in the turn that ends it, which may be this one. To listen to a
   * signal costs something: that begins when a turn ends with a question that the client may leave.
   */
  begin<Result>(
    conversation: Conversation<Result>,
    onEnd: (result: Result) => void,
    signal: AbortSignal | null = null,
  ): Talk {
    let gone = false
    let isListening = signal === null
    let whenGone: (() => void) | undefined
    const leave = () => {
      gone = true
      whenGone?.()
    }
    const listen = () => {
      if (isListening || whenGone === undefined) return
      isListening = true
      signal!.addEventListener('abort', () => this.turns.attempt(leave))
    }
    const goOn = (event: UserOutput | null) => {
      const next = conversation.next(event)
      whenGone = next.done ? undefined : next.value.whenGone
      if (next.done) return onEnd(next.value)
      this.put(next.value, goOn)
      if (whenGone === undefined) return
      if (gone || signal?.aborted) leave()
      else if (!isListening) this.turns.afterwards(listen)
    }
    goOn(null)
    return { leave }
  }

  private put(question: Question, goOn: (event: UserOutput | null) => void): void {
    const pending: Pending = { question, goOn, isOwn: true, timer: null }
    const others = this.pending.get(question.key) ?? new Set()
    this.pending.set(question.key, others.add(pending))
    if (question.until !== AT_ONCE)
      pending.timer = this.timers.set(question.until, () => this.settle(pending, null))
    if (question.say !== null) this.member().engine.user(question.say)
    pending.isOwn = false
    if (question.until === AT_ONCE) this.settle(pending, null)
  }

  onStep(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      const key = keyOf(event)
      if (key === null) continue
      for (const pending of [...(this.pending.get(key) ?? [])]) {
        const { question, isOwn } = pending
        if (question.isAnswer(event as UserOutput, isOwn)) this.settle(pending, event as UserOutput)
      }
    }
  }

  /** The lock was deleted: nobody gets any other answer. */
  endAll(): void {
    for (const pending of [...this.pending.values()].flatMap(set => [...set])) this.settle(pending, null)
  }

  /** At most once: the first answer counts, and the conversation goes on after the step. */
  private settle(pending: Pending, event: UserOutput | null): void {
    const { key } = pending.question
    const others = this.pending.get(key)
    if (!others?.delete(pending)) return
    if (others.size === 0) this.pending.delete(key)
    if (pending.timer !== null) this.timers.cancel(pending.timer)
    this.turns.react(() => pending.goOn(event))
  }
}

function keyOf(event: Emitted): string | null {
  if ('user' in event) return event.user
  if ('request' in event) return event.request
  return event.type === 'applied' ? operationKey(event.opId) : null
}
