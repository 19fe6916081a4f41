/**
 * The stream of a watcher: what the participant writes travels like everything else, and ends with the
 * instance.
 */
import type { Sink } from '../../../worker/participant/runtime.ts'
import type { Instance } from './instance.ts'

export interface StreamEvents {
  readonly onCancel: (sink: Sink) => void
  /** Everything that was written has been read. */
  readonly onDrained: (sink: Sink) => void
  /** The participant writes this. */
  readonly onWrite: (text: string) => void
}

/** After this long a connection that nobody reads from is found to be dead. */
const NOTICED_MS = 60_000

export function openStream(
  runtime: Instance,
  { onCancel, onDrained, onWrite }: StreamEvents,
): { readonly stream: ReadableStream<Uint8Array>; readonly sink: Sink } {
  const { object } = runtime
  const { loop } = object.world
  const encoder = new TextEncoder()
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let isOver = false
  let lastAt = 0
  let lastRead = loop.now
  /** In order, like the bytes of one connection. */
  const later = (run: () => void): void => {
    lastAt = Math.max(lastAt, loop.now + 0.5)
    loop.at(lastAt, run)
  }
  const fail = (error: Error): void => {
    runtime.waiting.delete(fail)
    if (isOver) return
    isOver = true
    later(() => controller.error(error))
  }
  const arrive = (text: string): void => {
    if (isOver) return
    if (loop.now - lastRead > NOTICED_MS) return cancel()
    controller.enqueue(encoder.encode(text))
  }
  const sink: Sink = {
    write: text => {
      runtime.point()
      onWrite(text)
      runtime.output(() => later(() => arrive(text)))
    },
    unreadBytes: () => -(controller.desiredSize ?? 0),
    fail: reason => {
      runtime.point()
      runtime.output(() => fail(new Error(reason)))
    },
  }
  const cancel = (): void => {
    runtime.waiting.delete(fail)
    isOver = true
    later(() => object.site.receive(() => runtime.isOver || onCancel(sink)))
  }
  const start = (own: ReadableStreamDefaultController<Uint8Array>): void => {
    controller = own
  }
  const pull = (): void => {
    lastRead = loop.now
    later(() => object.site.receive(() => runtime.isOver || isOver || onDrained(sink)))
  }
  const stream = new ReadableStream<Uint8Array>(
    { start, cancel, pull },
    { highWaterMark: 0, size: chunk => chunk.byteLength },
  )
  runtime.waiting.add(fail)
  return { stream, sink }
}
