/** `watch`: Server-Sent Events of one participant, see api.md. A slow reader is dropped, not buffered without end. */
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { WatchEvent } from './storage.ts'

export const KEEP_OPEN = 'watch/keep-open'
export const KEEP_OPEN_MS = 15_000

type Controller = ReadableStreamDefaultController<Uint8Array>

export class Watchers {
  private readonly controllers = new Set<Controller>()
  private readonly encoder = new TextEncoder()

  get size(): number {
    return this.controllers.size
  }

  /** A stream that begins with `first` and goes on with whatever is published. To read `first` takes as long as it takes. */
  open(first: readonly WatchEvent[]): ReadableStream<Uint8Array> {
    const past = [this.encoder.encode(': baton\n\n'), ...first.map(event => this.encode(event))]
    const pastBytes = past.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    let own: Controller
    return new ReadableStream<Uint8Array>(
      {
        start: controller => {
          own = controller
          for (const chunk of past) controller.enqueue(chunk)
          this.controllers.add(controller)
        },
        cancel: () => {
          this.controllers.delete(own)
        },
      },
      { highWaterMark: pastBytes + API_LIMITS.unreadBytes, size: chunk => chunk.byteLength },
    )
  }

  publish(changes: readonly WatchEvent[]): void {
    for (const change of changes) this.write(this.encode(change))
  }

  keepOpen(): void {
    this.write(this.encoder.encode(': still here\n\n'))
  }

  private write(chunk: Uint8Array): void {
    for (const controller of this.controllers) {
      if ((controller.desiredSize ?? 0) <= 0) {
        this.controllers.delete(controller)
        controller.error(new Error('the reader is too slow'))
      } else {
        controller.enqueue(chunk)
      }
    }
  }

  private encode({ event, sequence, data }: WatchEvent): Uint8Array {
    return this.encoder.encode(`id: ${sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
}
