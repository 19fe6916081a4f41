/** How the router asks one participant: one request with a time limit, and what can come of it as a value. */
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import type { Json } from '../../shared/json.ts'
import { AS_IT_IS } from '../answer-response.ts'
import { headersFor } from '../directory.ts'
import type { ParticipantAnswer, ParticipantCall, ParticipantRequest } from '../participant/calls.ts'
import type { Caller } from '../participant/observe/callers.ts'
import { isStopped, withinMs } from './time-limit.ts'

/** Finds a participant wherever it is. Rejects like the `fetch` of a Durable Object's stub does. */
export interface ParticipantDirectory {
  /** The path of the request says what is asked of the participant, see participant/calls.ts. */
  fetch(lock: string, place: ParticipantPlace, request: Request): Promise<Response>
}

export type Asked =
  /** `isInDoubt`: it was asked before, nothing was heard, and that first try may have been carried out. */
  | {
      readonly type: 'answered'
      readonly answer: ParticipantAnswer | PassedAnswer
      readonly isInDoubt?: true
    }
  /** The response is a stream or a WebSocket, to be handed on. */
  | { readonly type: 'opened'; readonly response: Response }
  /** No answer. The request may have been carried out, or may still be. */
  | { readonly type: 'silent'; readonly reason: string }
  /** It has too much to do; asking again makes it worse. */
  | { readonly type: 'overloaded'; readonly isInDoubt?: true }

export interface AskTimes {
  /** A participant that has not answered after this long is asked whether it is there at all ... */
  readonly probeAfterMs: number
  /** ... and is called silent if it has not said so after this. */
  readonly probeMs: number
  /** The longest pause before a retry. */
  readonly retryMs: number
}

export interface AskOptions {
  readonly limitMs: number
  /** The client has gone. */
  readonly signal?: AbortSignal | undefined
  /** Who asks, for the log of the participant. */
  readonly caller?: Caller | undefined
  /** The client gets what the participant answers: nobody here looks into it. */
  readonly asItIs?: true
}

/** An answer that the client gets as it is. */
export interface PassedAnswer {
  readonly type: 'passed'
  readonly status: number
  readonly text: string
}

export class ParticipantCaller {
  private readonly directory: ParticipantDirectory
  private readonly times: AskTimes

  constructor(directory: ParticipantDirectory, times: AskTimes) {
    this.directory = directory
    this.times = times
  }

  async call(
    lock: string,
    place: ParticipantPlace,
    call: ParticipantCall,
    options: AskOptions,
  ): Promise<Asked> {
    return this.ask(lock, place, requestFor(lock, place, call, options), options, parseAnswer)
  }

  /** Asks for a stream or a WebSocket. The time limit is for its beginning. */
  async open(
    lock: string,
    place: ParticipantPlace,
    /** Made anew for each try. */
    path: () => string,
    headers: Headers,
    isOpen: (response: Response) => boolean,
    options: AskOptions,
  ): Promise<Asked> {
    for (const [name, value] of Object.entries(headersFor(lock, place))) headers.set(name, value)
    const request: MakeRequest = signal => new Request(addressOf(path()), { headers, signal: signal() })
    return this.ask(lock, place, request, options, async response =>
      isOpen(response) ? { type: 'opened', response } : parseAnswer(response),
    )
  }

  private async ask(
    lock: string,
    place: ParticipantPlace,
    request: MakeRequest,
    { limitMs, signal }: AskOptions,
    understand: Understand,
  ): Promise<Asked> {
    const giveUp = () => this.probe(lock, place)
    const attempt = () => {
      const run = this.once(lock, place, request, understand)
      return withinMs(limitMs, signal, run, { afterMs: this.times.probeAfterMs, giveUp })
    }
    try {
      return await attempt()
    } catch (error) {
      if (isOverloaded(error)) return { type: 'overloaded' }
      if (!isRetryable(error)) return silent(error)
    }
    // Retry once, with jitter: every call may be repeated safely. But the first try may have done what the
    // second answer says was not done.
    await new Promise(resolve => setTimeout(resolve, Math.random() * this.times.retryMs))
    try {
      const asked = await attempt()
      return asked.type === 'answered' ? { ...asked, isInDoubt: true } : asked
    } catch (error) {
      return isOverloaded(error) ? { type: 'overloaded', isInDoubt: true } : silent(error)
    }
  }

  /**
   * A long wait is not a reason to give a participant up, but one that has gone away would keep its clients
   * for all their time to wait. So a slow one is probed: a participant that waits with us still answers
   * others.
   */
  private async probe(lock: string, place: ParticipantPlace): Promise<string | null> {
    const run = this.once(lock, place, requestFor(lock, place, { type: 'status' }, {}), parseAnswer)
    try {
      await withinMs(this.times.probeMs, undefined, run)
      return null
    } catch (error) {
      return isOverloaded(error) ? null : `slow, and ${reasonOf(error)}`
    }
  }

  private once(
    lock: string,
    place: ParticipantPlace,
    request: MakeRequest,
    understand: Understand,
  ): (signal: () => AbortSignal) => Promise<Asked> {
    return async signal => understand(await this.directory.fetch(lock, place, request(signal)))
  }
}

type MakeRequest = (signal: () => AbortSignal) => Request
type Understand = (response: Response) => Promise<Asked>

/** Only a participant that a client waits at must hear that it has gone: a signal costs something. */
function requestFor(
  lock: string,
  place: ParticipantPlace,
  call: ParticipantCall,
  { caller, asItIs, signal: gone }: Omit<AskOptions, 'limitMs'>,
): MakeRequest {
  const request: ParticipantRequest = { call, ...(caller && { caller }), ...(asItIs && { asItIs }) }
  const body = JSON.stringify(request)
  const init = { method: 'POST', headers: headersFor(lock, place), body }
  return signal => new Request(addressOf('/call'), gone === undefined ? init : { ...init, signal: signal() })
}

/** The host is of no importance: the directory knows where the request goes. */
function addressOf(path: string): string {
  return `http://participant${path}`
}

async function parseAnswer(response: Response): Promise<Asked> {
  if (response.status === 429) return { type: 'answered', answer: tooMany(response) }
  if (!response.ok) throw new Error(`status ${response.status}`)
  const { status } = response
  if (status === 204 || response.headers.get('content-type') === AS_IT_IS)
    return { type: 'answered', answer: { type: 'passed', status, text: await response.text() } }
  const answer = (await response.json()) as Json
  if (!isAnswer(answer)) throw new Error('not an answer of a participant')
  return { type: 'answered', answer }
}

function isAnswer(value: Json): value is Json & ParticipantAnswer {
  const type = (value as { readonly type?: Json } | null)?.type
  return type === 'done' || type === 'problem' || type === 'elsewhere'
}

function tooMany(response: Response): ParticipantAnswer {
  const seconds = Number(response.headers.get('retry-after') ?? 1)
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : 1
  return {
    type: 'problem',
    code: 'too_many',
    detail: 'The participant takes no more requests of this kind for now.',
    retryAfterSeconds,
  }
}

/**
 * Durable Objects say on their errors whether it makes sense to try again (developers.cloudflare.com, Error
 * handling).
 */
function isRetryable(error: unknown): boolean {
  const marks = error as { readonly retryable?: unknown; readonly durableObjectReset?: unknown } | null
  return !isStopped(error) && (marks?.retryable === true || marks?.durableObjectReset === true)
}

function isOverloaded(error: unknown): boolean {
  return (error as { readonly overloaded?: unknown } | null)?.overloaded === true
}

function silent(error: unknown): Asked {
  return { type: 'silent', reason: reasonOf(error) }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
