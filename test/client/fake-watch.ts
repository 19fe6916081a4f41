/** The fake service's Server-Sent Events: replays what is asked for, then tells what happens. */
import type { FakeEvent, FakeLock } from './fake-lock.ts'

const KEEP_OPEN_MS = 15_000

export function streamEvents(lock: FakeLock, since: number | undefined, signal: AbortSignal): Response {
  const encoder = new TextEncoder()
  const closed = new AbortController()
  signal.addEventListener('abort', () => closed.abort())
  let position = since === undefined ? lock.events.length : firstAfter(lock.events, since)
  const stream = new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(encoder.encode(': baton\n\n')),
    pull: async controller => {
      if (position === lock.events.length) {
        const changed = new AbortController()
        await Promise.race([
          lock.changed(closed.signal),
          lock.clock.sleep(KEEP_OPEN_MS, { signal: changed.signal, background: true }),
        ])
        changed.abort()
      }
      if (closed.signal.aborted) return controller.error(new Error('aborted'))
      const event = lock.events[position]
      if (event !== undefined) position++
      controller.enqueue(encoder.encode(event === undefined ? ': still here\n\n' : format(event)))
    },
    cancel: () => closed.abort(),
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}

/**
 * The lock may change hands many times at one sequence, so everything that happened at the sequence of
 * `since` is reported again.
 */
function firstAfter(events: readonly FakeEvent[], since: number): number {
  const first = events.findIndex(({ sequence }) => sequence >= since)
  return first === -1 ? events.length : first
}

function format({ type, sequence, data }: FakeEvent): string {
  return `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}
