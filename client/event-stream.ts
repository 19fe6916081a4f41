/** Server-Sent Events, read from the body of an answer (the WHATWG HTML standard, section 9.2.6). */

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

/** What the stream has reported so far, besides its events. */
export interface StreamState {
  /** Where to go on after a disconnect. A block of an `id:` alone is no event but sets it. */
  lastEventId: string | undefined
  /** How long the service asks to wait before connecting again. */
  retryMs: number | undefined
}

/** Ends when the stream does; what is left then is no whole event and is dropped. */
export async function* parseEventStream(
  chunks: AsyncIterable<string>,
  state: StreamState,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let event = ''
  let data: string[] = []
  let id = state.lastEventId
  for await (const line of linesOf(chunks)) {
    if (line === '') {
      state.lastEventId = id
      if (data.length > 0) yield { event: event === '' ? 'message' : event, data: data.join('\n') }
      event = ''
      data = []
      continue
    }
    const colon = line.indexOf(':')
    if (colon === 0) continue
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'retry' && /^[0-9]+$/.test(value)) state.retryMs = Number(value)
  }
}

/** Lines end with CR LF, LF or CR. A CR at the end of a chunk may be the first half of a CR LF. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = ''
  let isFirst = true
  for await (const chunk of chunks) {
    rest += isFirst ? chunk.replace(/^\uFEFF/, '') : chunk
    if (chunk !== '') isFirst = false
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    yield* lines
  }
}
