/**
 * A tiny HTTP client for the tests. Every answer that passes through it, in any test, is checked against the
 * contract: its status is one that the route documents, its body has the documented shape, and a refusal is a
 * problem of the table.
 */
import { problemAnswer } from '../../shared/api/answer-schemas.ts'
import { PROBLEM_MEDIA_TYPE, PROBLEMS, type ProblemCode, problemType } from '../../shared/api/problems.ts'
import { problemsOf, ROUTE_IDS, ROUTES, type Route } from '../../shared/api/routes.ts'
import type { Grant, Holder, ParticipantView, StatusAnswer, Ticket } from '../../shared/api/types.ts'
import type { Json } from '../../shared/json.ts'

/**
 * The members of all answers together. Which of them are there follows from the status, and tests look at no
 * others.
 */
export interface AnswerBody {
  readonly grant: Grant
  readonly ticket: Ticket
  readonly fence: number
  readonly sequence: number
  readonly applied: boolean
  readonly results: readonly { readonly [member: string]: Json }[]
  readonly expiresAt: string
  readonly key: string
  readonly value: Json
  readonly revision: number
  readonly entries: readonly { readonly key: string; readonly value: Json; readonly revision: number }[]
  readonly cursor: string | null
  readonly lock: string
  readonly protocol: string
  readonly resource: string
  readonly participants: readonly (ParticipantView & { readonly events: readonly Json[] })[]
  readonly holder: Holder | null
  readonly waiting: StatusAnswer['waiting']
  readonly explanation: string
  readonly epoch: number
  readonly code: ProblemCode
  readonly detail: string
  readonly retryable: boolean
  readonly outcome: 'applied' | 'not-applied' | 'unknown' | undefined
  readonly errors: readonly { readonly in: string; readonly path: string; readonly message: string }[]
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: AnswerBody
}

export interface RequestOptions {
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal
}

export async function request(
  url: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const { body, headers = {}, signal } = options
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const content = body === undefined ? null : isRaw ? body : JSON.stringify(body)
  const type: { [name: string]: string } = content === null ? {} : { 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, {
    method,
    body: content as string | null,
    headers: { ...type, ...headers },
    ...(signal && { signal }),
  })
  const text = await response.text()
  const answer = { status: response.status, headers: response.headers, text, body: parse(response, text) }
  const complaint = complaintAbout(method, path, answer)
  if (complaint !== null)
    throw new Error(`${method} ${path} answered ${answer.status} ${text}\nbut ${complaint}`)
  return answer
}

function parse(response: Response, text: string): AnswerBody {
  const isJson = (response.headers.get('content-type') ?? '').includes('json')
  return (isJson ? JSON.parse(text) : null) as AnswerBody
}

// ---------------------------------------------------------------- the contract

/** Returns how the answer contradicts the table of routes or that of problems; `null` if it does not. */
function complaintAbout(method: string, path: string, answer: Answer): string | null {
  const { status, body, headers } = answer
  if (status === 500) return 'a 500 is always a defect'
  const route = routeOf(method, path)
  if (status >= 400) return complaintAboutProblem(route, answer)
  if (route === null) return 'there is no such route'
  const documented = route.answers[status]
  if (documented === undefined) return `${status} is not documented for this route`
  if (status === 204 || status === 304) return answer.text === '' ? null : 'this status has no body'
  const type = headers.get('content-type') ?? ''
  const { schema, mediaType = 'application/json' } = documented
  if (!type.startsWith(mediaType) && !(schema !== undefined && type.startsWith('application/json')))
    return `its content type is not ${mediaType}`
  const parsed = type.startsWith('application/json') ? schema?.safeParse(body) : undefined
  return parsed === undefined || parsed.success ? null : parsed.error.message
}

function complaintAboutProblem(route: Route | null, { status, body, headers }: Answer): string | null {
  if (headers.get('content-type') !== PROBLEM_MEDIA_TYPE)
    return `its content type is not ${PROBLEM_MEDIA_TYPE}`
  const parsed = problemAnswer.safeParse(body)
  if (!parsed.success) return parsed.error.message
  const { code, type, title, retryable } = parsed.data
  const kind = PROBLEMS[code]
  if (parsed.data.status !== status || kind.status !== status) return `${code} does not have this status`
  if (type !== problemType(code) || title !== kind.title || retryable !== kind.retryable)
    return `it is not the problem ${code} of the table`
  const comesBack = status === 429 || status === 503
  if (comesBack && !/^[1-9][0-9]*$/.test(headers.get('retry-after') ?? '')) return 'Retry-After is missing'
  if (route !== null && !problemsOf(route).includes(code)) return `${code} is not documented for this route`
  return null
}

function routeOf(method: string, path: string): Route | null {
  // In front of it, not as a base: the beginning of `//x/` would be taken for a host.
  const { pathname } = new URL(`http://service${path}`)
  const isIt = (route: Route) => {
    const shape = route.path.replace('{key}', '[\\s\\S]+').replaceAll(/\{\w+\}/g, '[^/]+')
    return route.method === method.toLowerCase() && new RegExp(`^${shape}$`).test(pathname)
  }
  const id = ROUTE_IDS.find(candidate => isIt(ROUTES[candidate]))
  return id === undefined ? null : ROUTES[id]
}
