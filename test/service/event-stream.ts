/**
 * `watch` as a test uses it: events come out in order, comments are counted. It does not use the client's own
 * parser.
 */
import type { Json } from '../../shared/json.ts'
import { GENEROUS_MS } from './eventually.ts'

export interface StreamEvent {
  readonly id: number
  readonly event: string
  readonly data: { readonly [member: string]: Json }
}

export class TestWatch {
  readonly response: Response
  comments = 0
  isOver = false
  private readonly arrived: StreamEvent[] = []
  private readonly abort: AbortController
  private wake = () => {}

  constructor(response: Response, abort: AbortController) {
    this.response = response
    this.abort = abort
    void this.read().catch(() => {
      this.isOver = true
    })
  }

  private async read(): Promise<void> {
    let rest = ''
    for await (const text of this.response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) this.take(block)
      this.wake()
    }
    this.isOver = true
    this.wake()
  }

  private take(block: string): void {
    if (block.startsWith(':')) {
      this.comments++
      return
    }
    const fields = Object.fromEntries(
      block.split('\n').map(line => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
    ) as { readonly id: string; readonly event: string; readonly data: string }
    this.arrived.push({ id: Number(fields.id), event: fields.event, data: JSON.parse(fields.data) })
  }

  async next(): Promise<StreamEvent> {
    await this.until(() => this.arrived.length > 0, 'another event')
    return this.arrived.shift()!
  }

  /** The next event of this kind; others are skipped. */
  async nextOf(event: string): Promise<StreamEvent> {
    for (;;) {
      const next = await this.next()
      if (next.event === event) return next
    }
  }

  /** The events up to the operation with this id, which is the last. */
  async upTo(opId: string): Promise<StreamEvent[]> {
    const events: StreamEvent[] = []
    for (;;) {
      const next = await this.next()
      events.push(next)
      if (next.event === 'op' && next.data.opId === opId) return events
    }
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    const end = Date.now() + GENEROUS_MS
    while (!condition()) {
      if (this.isOver) throw new Error(`the stream is over, without ${what}`)
      if (Date.now() > end) throw new Error(`the stream has not brought ${what}`)
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, 500)
        this.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  close(): void {
    this.abort.abort()
  }
}

export async function openWatch(
  url: string,
  headers: { readonly [name: string]: string } = {},
): Promise<TestWatch> {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return new TestWatch(response, abort)
}
