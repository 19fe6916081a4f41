/** What went wrong, in words that help, and the exit code for it. One table from errors to both. */
import {
  AbortedError,
  BadRequestError,
  BatonError,
  ForbiddenError,
  GrantOverError,
  LockedError,
  NetworkError,
  NoQuorumError,
  ServerError,
  TimeoutError,
  UnauthenticatedError,
} from '../client/index.ts'
import { UsageError } from './arguments.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import type { Settings } from './settings.ts'

/** A refusal that the command itself found out, such as a condition that does not hold. */
export class Refusal extends Error {
  readonly code: string
  readonly exitCode: ExitCode

  constructor(code: string, message: string, exitCode: ExitCode = EXIT.refused) {
    super(message)
    this.code = code
    this.exitCode = exitCode
  }
}

export interface Explanation {
  readonly exitCode: number
  readonly code: string
  readonly message: string
  /** What a program may want to know besides. */
  readonly more?: { readonly [name: string]: unknown }
}

/** `settings` is `null` while it is not known where the service is. */
export function explain(error: unknown, settings: Settings | null): Explanation {
  if (error instanceof UsageError) {
    return { exitCode: EXIT.usage, code: 'usage', message: sentence(error.message) }
  }
  if (error instanceof Refusal) {
    return { exitCode: error.exitCode, code: error.code, message: sentence(error.message) }
  }
  if (error instanceof BatonError && settings !== null) return explainBatonError(error, settings)
  throw error
}

function explainBatonError(error: BatonError, settings: Settings): Explanation {
  const { code, outcome, opId, requestId } = error
  const more = {
    ...(outcome !== undefined && { outcome }),
    ...(opId !== undefined && { opId }),
    ...(error instanceof LockedError && error.holder !== undefined && { holder: error.holder }),
    ...(requestId !== undefined && { requestId }),
  }
  const why = reasonOf(error, settings)
  if (opId !== undefined && outcome === 'unknown') {
    const message = `${why} It is not known whether the operation was applied: ask again with --op-id ${opId}, which applies it at most once.`
    return { exitCode: EXIT.unknown, code, message, more }
  }
  return { exitCode: exitCodeOf(error), code, message: why, more }
}

function exitCodeOf(error: BatonError): ExitCode {
  if (error instanceof LockedError) return EXIT.busy
  if (error instanceof GrantOverError) return EXIT.lost
  const isAway =
    error instanceof NetworkError || error instanceof NoQuorumError || error instanceof ServerError
  return isAway ? EXIT.unreachable : EXIT.refused
}

function reasonOf(error: BatonError, { url, key, file }: Settings): string {
  const { detail } = error
  if (error instanceof LockedError) return busy(error)
  if (error instanceof TimeoutError) return `${url.value} does not answer: ${sentence(detail)}`
  if (error instanceof NetworkError) return notThere(error, url)
  if (error instanceof UnauthenticatedError) {
    return key === null
      ? `The service at ${url.value} wants a key: give it one with --key, with BATON_KEY, or in ${file.path}.`
      : `The service at ${url.value} does not know this key (from ${key.source}).`
  }
  if (error instanceof ForbiddenError)
    return `The key (from ${key?.source}) may not do this: ${sentence(detail)}`
  if (error instanceof AbortedError) return 'Stopped.'
  if (error instanceof BadRequestError && error.errors.length > 0) {
    return `The service refuses this: ${error.errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')}.`
  }
  if (error.code === 'unexpected' || error.code === 'unavailable') {
    return `There seems to be no Baton service at ${url.value} (from ${url.source}): it gave ${sentence(detail)}`
  }
  return sentence(detail)
}

function busy({ detail, holder }: LockedError): string {
  if (holder === undefined) return `The lock is busy: ${detail}.`
  const { participant, fence, expiresAt, owner } = holder
  const by = owner === undefined ? '' : ` by ${owner}`
  return `The lock is busy: it is held${by} at participant ${participant} with fence ${fence}, until ${expiresAt} unless it is kept alive.`
}

function notThere(error: NetworkError, url: Settings['url']): string {
  const advice =
    url.source === 'the default'
      ? 'Start one with `baton start`, or say where it is with --url or BATON_URL.'
      : `The address is from ${url.source}.`
  // What the client knows beyond the reason, such as what a lost answer may have left behind.
  const [, ...further] = error.detail.split('; ')
  return [
    `No Baton service answers at ${url.value} (${causeOf(error)}).`,
    ...further.map(sentence),
    advice,
  ].join(' ')
}

/** Node says only "fetch failed", and hides the reason in a cause, or in the causes of several attempts. */
function causeOf(error: Error): string {
  let cause: unknown = error
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++) {
    if (cause instanceof AggregateError && cause.errors.length > 0) cause = cause.errors[0]
    const { code } = cause as NodeJS.ErrnoException
    if (code !== undefined && Object.hasOwn(REASONS, code)) return REASONS[code]!
    if ((cause as Error).cause === undefined) break
    cause = (cause as Error).cause
  }
  return cause instanceof Error ? cause.message : String(cause)
}

const REASONS: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no way to the host',
  ENETUNREACH: 'no way to the network',
  UND_ERR_CONNECT_TIMEOUT: 'no answer',
}

/** With a capital letter and a full stop. */
export function sentence(text: string): string {
  const capital = /^[a-z]+ /.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text
  return /[.!?]$/.test(capital) ? capital : `${capital}.`
}
