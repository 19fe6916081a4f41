/**
 * `Request`, `Response` and `Headers` as far as router, client and participants use them. The platform's
 * own are several times slower, refuse the status 101 outside of Workers, and follow signals through weak
 * references, so that a run would depend on when garbage is collected.
 */
type HeadersLike = SimHeaders | Iterable<readonly [string, string]> | { readonly [name: string]: string }
type BodyLike = string | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | null | undefined

export class SimHeaders {
  readonly #values = new Map<string, string>()

  constructor(from: HeadersLike = []) {
    const entries = Symbol.iterator in from ? from : Object.entries(from)
    for (const [name, value] of entries as Iterable<readonly [string, string]>) this.append(name, value)
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase())
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value))
  }

  append(name: string, value: string): void {
    const before = this.get(name)
    this.set(name, before === null ? value : `${before}, ${value}`)
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase())
  }

  forEach(action: (value: string, name: string) => void): void {
    for (const [name, value] of this.#values) action(value, name)
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values.entries()
  }

  keys(): IterableIterator<string> {
    return this.#values.keys()
  }

  values(): IterableIterator<string> {
    return this.#values.values()
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#values.entries()
  }
}

class SimBody {
  readonly headers: SimHeaders
  readonly #content: Uint8Array | string | null
  #stream: ReadableStream<Uint8Array> | null
  bodyUsed = false

  constructor(body: BodyLike, headers: HeadersLike | undefined) {
    this.headers = new SimHeaders(headers)
    const isStream = body instanceof ReadableStream
    this.#stream = isStream ? body : null
    this.#content = isStream || body === null || body === undefined ? null : contentOf(body)
  }

  get body(): ReadableStream<Uint8Array> | null {
    const content = this.#content
    if (content !== null && this.#stream === null) {
      this.#stream = new ReadableStream({
        start: controller => {
          controller.enqueue(bytesOf(content))
          controller.close()
        },
      })
    }
    return this.#stream
  }

  /** All of the body, for whoever watches; `null` if it comes in pieces. */
  get whole(): string | null {
    if (this.#content === null) return this.#stream === null ? '' : null
    return typeof this.#content === 'string' ? this.#content : new TextDecoder().decode(this.#content)
  }

  /** Nobody will read the body. */
  discard(): void {
    this.#stream?.cancel().catch(() => {})
  }

  async text(): Promise<string> {
    const content = await this.#read()
    return typeof content === 'string' ? content : new TextDecoder().decode(content)
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = bytesOf(await this.#read())
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  }

  async bytes(): Promise<Uint8Array> {
    return bytesOf(await this.#read())
  }

  async #read(): Promise<string | Uint8Array> {
    if (this.bodyUsed) throw new TypeError('the body was read already')
    this.bodyUsed = true
    if (this.#content !== null) return this.#content
    if (this.#stream === null) return ''
    const chunks: Uint8Array[] = []
    for await (const chunk of this.#stream) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  /** What a copy of this is made of. */
  protected get given(): BodyLike {
    return this.#content ?? this.#stream
  }
}

const contentOf = (body: string | Uint8Array | ArrayBuffer): string | Uint8Array =>
  typeof body === 'string' ? body : body instanceof ArrayBuffer ? new Uint8Array(body) : body

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content

interface RequestOptions {
  readonly method?: string
  readonly headers?: HeadersLike
  readonly body?: BodyLike
  readonly signal?: AbortSignal | null
}

export class SimRequest extends SimBody {
  readonly url: string
  readonly method: string
  readonly signal: AbortSignal

  constructor(input: string | URL | SimRequest, options: RequestOptions = {}) {
    const from = input instanceof SimRequest ? input : null
    const body = options.body ?? from?.given
    super(body, options.headers ?? from?.headers)
    this.url = from === null ? new URL(String(input)).href : from.url
    this.method = options.method ?? from?.method ?? 'GET'
    this.signal = options.signal ?? from?.signal ?? new AbortController().signal
    if (typeof body === 'string') this.headers.set('content-length', String(Buffer.byteLength(body)))
  }

  clone(): SimRequest {
    return new SimRequest(this)
  }
}

interface ResponseOptions {
  readonly status?: number
  readonly headers?: HeadersLike
  readonly webSocket?: unknown
}

export class SimResponse extends SimBody {
  readonly status: number
  readonly webSocket: unknown

  constructor(body: BodyLike = null, options: ResponseOptions = {}) {
    super(body, options.headers)
    this.status = options.status ?? 200
    this.webSocket = options.webSocket ?? null
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  clone(): SimResponse {
    return new SimResponse(this.given, this)
  }

  static json(value: unknown, options: ResponseOptions = {}): SimResponse {
    const response = new SimResponse(JSON.stringify(value), options)
    response.headers.set('content-type', 'application/json')
    return response
  }
}
