import { describe, expect, it } from 'vitest'
import { createBaton, type WatchEvent } from '../../client/index.ts'
import { VirtualClock } from './virtual-clock.ts'

/**
 * A service whose n-th answer to `watch` is the n-th of these; `null` at the end: it stays open and silent.
 */
function serviceOf(...answers: (string | null)[][]) {
  const clock = new VirtualClock()
  const requests: { since: string | null; at: number }[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const parts = answers[requests.length] ?? []
    requests.push({ since: new URL(request.url).searchParams.get('since'), at: clock.now() })
    const stream = new ReadableStream<Uint8Array>({
      start: controller => {
        for (const part of parts) if (part !== null) controller.enqueue(new TextEncoder().encode(part))
        if (parts.at(-1) !== null) controller.close()
      },
    })
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { clock, requests, lock: createBaton({ fetch, clock, random: () => 1 }).lock('test') }
}

function op(sequence: number): string {
  return `id: ${sequence}\nevent: op\ndata: ${JSON.stringify({ sequence, fence: 1, opId: `op-${sequence}`, changes: [] })}\n\n`
}

function snapshot(sequence: number, more = {}): string {
  return `id: ${sequence}\nevent: snapshot\ndata: ${JSON.stringify({ sequence, ...more, entries: [] })}\n\n`
}

async function take(events: AsyncIterable<WatchEvent>, count: number): Promise<string[]> {
  const told: string[] = []
  for await (const { type, sequence } of events) {
    told.push(`${type} ${sequence}`)
    if (told.length === count) break
  }
  return told
}

/** `null`: nobody holds it. */
function holder(sequence: number, fence: number | null, more = {}): string {
  const data = fence === null ? { participant: null } : { participant: 1, fence, ...more }
  return `id: ${sequence}\nevent: holder\ndata: ${JSON.stringify({ sequence, ...data })}\n\n`
}

const KNOWN = { since: '2026-11-17T09:30:00.000Z', expiresAt: '2026-11-17T09:31:00.000Z' }

async function holders(events: AsyncIterable<WatchEvent>): Promise<(number | null)[]> {
  const told: (number | null)[] = []
  for await (const event of events) {
    if (event.type === 'op') break
    if (event.type === 'holder') told.push(event.participant === null ? null : event.fence)
  }
  return told
}

describe('watch', () => {
  it('connects again when the service has been silent for too long', async () => {
    const { lock, clock, requests } = serviceOf([op(1), null], [op(2)])
    const before = clock.now()
    expect(await take(lock.watch({ since: 0 }), 2)).toEqual(['op 1', 'op 2'])
    expect(requests.map(({ since }) => since)).toEqual(['0', '1'])
    expect(clock.now() - before).toBeGreaterThanOrEqual(45_000)
  })

  it('goes on from where an id alone has put it', async () => {
    const { lock, requests } = serviceOf(['id: 41\n\n'], [op(42)])
    expect(await take(lock.watch(), 1)).toEqual(['op 42'])
    expect(requests.map(({ since }) => since)).toEqual([null, '41'])
  })

  it('begins anew with a lock that was deleted, and made again', async () => {
    const { lock } = serviceOf([op(7), op(8)], [snapshot(2, { anew: true }), op(3)], [op(3), op(4)])
    expect(await take(lock.watch(), 5)).toEqual(['op 7', 'op 8', 'snapshot 2', 'op 3', 'op 4'])
  })

  it('tells the whole state when that is news, and only then', async () => {
    const { lock } = serviceOf([snapshot(5), op(6)], [snapshot(6)], [snapshot(9), op(9), op(10)])
    expect(await take(lock.watch({ since: 1 }), 4)).toEqual(['snapshot 5', 'op 6', 'snapshot 9', 'op 10'])
  })

  it('tells holders in the order of their fences, and each once, whoever tells it', async () => {
    const first = [holder(1, 3), holder(1, 3, KNOWN), holder(2, null), holder(2, 5, KNOWN)]
    // Where it goes on, the log is told again, and less may be known.
    const second = [holder(3, 3), holder(5, 5), holder(5, 5, KNOWN), holder(6, null)]
    const third = [holder(6, null), holder(6, 7, KNOWN), op(9)]
    const { lock } = serviceOf(first, second, third)
    expect(await holders(lock.watch())).toEqual([3, 3, null, 5, null, 7])
  })

  it('tells that nobody holds the lock if somebody may have before', async () => {
    for (const options of [{}, { since: 0 }]) {
      const { lock } = serviceOf([holder(4, null), op(5)])
      expect(await holders(lock.watch(options))).toEqual([])
    }
    const { lock } = serviceOf([holder(4, null)], [holder(4, null), op(5)])
    expect(await holders(lock.watch({ since: 4 }))).toEqual([null])
  })

  it('ends quietly if its signal is aborted after the connection broke', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    const stop = new AbortController()
    let isBroken = false
    const stream = new ReadableStream<Uint8Array>({
      pull: controller => {
        if (isBroken) controller.error(new Error('the connection broke'))
        else controller.enqueue(new TextEncoder().encode(op(1)))
        isBroken = true
      },
    })
    const headers = { 'content-type': 'text/event-stream' }
    const fetch = async () => new Response(stream, { headers })
    const lock = createBaton({ fetch, clock: new VirtualClock() }).lock('test')
    for await (const _ of lock.watch({ signal: stop.signal })) {
      await new Promise(resolve => setTimeout(resolve, 20))
      stop.abort()
    }
    await new Promise(resolve => setTimeout(resolve, 20))
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })

  it('passes over what it does not know', async () => {
    const { lock } = serviceOf(['event: new\ndata: not even JSON\n\n', op(1)])
    expect(await take(lock.watch({ since: 0 }), 1)).toEqual(['op 1'])
  })

  it('waits longer and longer, or as long as the service asks', async () => {
    const { lock, requests } = serviceOf([], [], [], ['retry: 7000\n\n'], [op(1)])
    await take(lock.watch({ since: 0 }), 1)
    const pauses = requests.slice(1).map(({ at }, index) => at - requests[index]!.at)
    expect(pauses).toEqual([100, 200, 400, 7_800])
  })
})
