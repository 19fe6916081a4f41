/** Mistakes that recipes once made, each by its name. */
import { afterAll, describe, expect, it } from 'vitest'
import { createBaton, type Fetch } from '../../client/index.ts'
import { SharedConfiguration } from '../../recipes/index.ts'
import { createFakeServer } from '../client/fake-server.ts'
import { VirtualClock } from '../client/virtual-clock.ts'

const clock = new VirtualClock()
const server = createFakeServer({ clock })
afterAll(() => clock.stop())
const baton = createBaton({ fetch: server.fetch, clock })

describe('shared configuration', () => {
  /** A service whose lock has been deleted, and made again, whenever somebody begins to watch. */
  function configurationOf(own: VirtualClock, values: readonly string[]): SharedConfiguration<string> {
    const left = [...values]
    const encoder = new TextEncoder()
    const fetch: Fetch = async request => {
      const entryOf = (value: string) => ({ key: 'configuration', value, revision: 2 })
      if (request.url.includes('/state'))
        return Response.json({ entries: [entryOf(left.shift()!)], cursor: null, sequence: 2 })
      const next = left.shift()
      const data = { sequence: 2, anew: true, entries: next === undefined ? [] : [entryOf(next)] }
      const text = `id: 2\nevent: snapshot\ndata: ${JSON.stringify(data)}\n\n`
      const start = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(encoder.encode(next === undefined ? ': nothing\n\n' : text))
        if (left.length > 0) controller.close()
      }
      return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } })
    }
    return new SharedConfiguration(createBaton({ fetch, clock: own }).lock('conf'))
  }

  it('tells whoever watches what the next lock of the name holds, at the same revision', async () => {
    const own = new VirtualClock()
    const stop = new AbortController()
    const seen: unknown[] = []
    const watching = (async () => {
      const configuration = configurationOf(own, ['a', 'b', 'b', 'c'])
      for await (const one of configuration.watch({ signal: stop.signal })) seen.push(one)
    })()
    await own.sleep(10_000)
    stop.abort()
    await watching
    own.stop()
    expect(seen).toEqual(['a', 'b', 'c'].map(value => ({ value, revision: 2 })))
  })
})
