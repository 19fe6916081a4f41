/**
 * A network that does what it is told to do, between the client and any service: the faults need no help from
 * it.
 */

import type { Clock, Fetch } from '../../client/index.ts'
import { PROBLEM_MEDIA_TYPE, type ProblemCode, problem } from '../../shared/api/problems.ts'

export type Fault =
  /** The request does not arrive. */
  | 'lose-request'
  /** The request is carried out, but its answer does not arrive. */
  | 'lose-answer'
  /** The request is carried out, but its answer arrives half. */
  | 'cut-answer'
  /** Nothing arrives, and nobody is told. */
  | 'hang'
  /**
   * The answer is a stream of events that breaks off after this many blocks, each of which ends with an empty
   * line.
   */
  | { readonly cutAfterBlocks: number }
  /** The service refuses. */
  | { readonly refuse: ProblemCode; readonly retryAfterSeconds?: number }
  /** Something in front of the service answers. */
  | { readonly status: number }

export interface SentRequest {
  readonly method: string
  /** Below the lock. */
  readonly path: string
  readonly url: URL
  readonly headers: Headers
  readonly body: unknown
  readonly at: number
}

export class FaultyNetwork {
  /** Asked for each request; given how many of its kind (method and path without ids) came before. */
  plan: (request: SentRequest, before: number) => Fault | undefined = () => undefined
  readonly sent: SentRequest[] = []
  readonly #fetch: Fetch
  readonly #clock: Clock

  constructor(fetch: Fetch, clock: Clock) {
    this.#fetch = fetch
    this.#clock = clock
  }

  /** The requests of one kind, such as `POST ops`. */
  of(kind: string): SentRequest[] {
    return this.sent.filter(request => kindOf(request) === kind)
  }

  /** The next requests of this kind meet these faults, one after the other. */
  inject(kind: string, ...faults: (Fault | undefined)[]): void {
    const first = this.of(kind).length
    const { plan } = this
    this.plan = (request, before) =>
      kindOf(request) === kind && before >= first && before < first + faults.length
        ? faults[before - first]
        : plan(request, before)
  }

  readonly fetch: Fetch = async request => {
    const sent = await describe(request, this.#clock.now())
    const before = this.of(kindOf(sent)).length
    this.sent.push(sent)
    const fault = this.plan(sent, before)
    if (fault === undefined) return this.#fetch(request)
    if (fault === 'lose-request') throw new TypeError('the request was lost')
    if (fault === 'hang') return new Promise(() => {})
    if (typeof fault === 'object' && 'refuse' in fault) return refusal(fault)
    if (typeof fault === 'object' && 'status' in fault)
      return new Response('<html>', { status: fault.status })
    const response = await this.#fetch(request)
    if (fault === 'lose-answer') {
      await response.body?.cancel()
      throw new TypeError('the answer was lost')
    }
    if (fault === 'cut-answer') return cutAnswer(response)
    return cutStream(response, fault.cutAfterBlocks)
  }
}

function kindOf({ method, path }: Pick<SentRequest, 'method' | 'path'>): string {
  const parts = path.split('/').filter(part => part !== '')
  const last = parts.length === 2 && parts[0] !== 'state' ? parts[0] : parts.at(-1)
  return `${method} ${parts[0] === 'state' ? 'state' : (last ?? 'lock')}`
}

async function describe(request: Request, at: number): Promise<SentRequest> {
  const url = new URL(request.url)
  const path = /\/v1\/locks\/[^/]+\/?(.*)$/.exec(url.pathname)?.[1] ?? ''
  const text = await request.clone().text()
  const body: unknown = text === '' ? undefined : JSON.parse(text)
  return { method: request.method, path, url, headers: request.headers, body, at }
}

function refusal(fault: { readonly refuse: ProblemCode; readonly retryAfterSeconds?: number }): Response {
  const body = problem(fault.refuse, 'Refused by the test.', { outcome: 'not-applied' })
  const headers: Record<string, string> = { 'content-type': PROBLEM_MEDIA_TYPE }
  if (fault.retryAfterSeconds !== undefined) headers['retry-after'] = String(fault.retryAfterSeconds)
  return new Response(JSON.stringify(body), { status: body.status, headers })
}

async function cutAnswer(response: Response): Promise<Response> {
  const text = await response.text()
  if (text === '') throw new TypeError('the answer was lost')
  const { status, headers } = response
  return new Response(text.slice(0, text.length / 2), { status, headers })
}

const NEW_LINE = 10

/** Into which chunks the blocks are put is the runtime's affair. */
function cutStream(response: Response, blocks: number): Response {
  const reader = response.body!.getReader()
  let rest = blocks
  let before = 0
  const stream = new ReadableStream<Uint8Array>({
    pull: async controller => {
      const { value } = rest > 0 ? await reader.read() : { value: undefined }
      if (value === undefined) {
        await reader.cancel()
        return controller.error(new TypeError('the connection was lost'))
      }
      let end = 0
      while (end < value.length && rest > 0) {
        const byte = value[end++]!
        if (byte === NEW_LINE && before === NEW_LINE) rest--
        before = byte
      }
      controller.enqueue(value.subarray(0, end))
    },
    cancel: () => reader.cancel(),
  })
  return new Response(stream, { status: response.status, headers: response.headers })
}
