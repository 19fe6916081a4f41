import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEventStream, type ServerSentEvent, type StreamState } from '../../client/event-stream.ts'

async function parse(...chunks: string[]): Promise<{ events: ServerSentEvent[]; state: StreamState }> {
  const state: StreamState = { lastEventId: undefined, retryMs: undefined }
  const events: ServerSentEvent[] = []
  const stream = (async function* () {
    yield* chunks
  })()
  for await (const event of parseEventStream(stream, state)) events.push(event)
  return { events, state }
}

describe('a stream of events', () => {
  it('is read field by field', async () => {
    const { events, state } = await parse(
      ': hello\n\nid: 5\nevent: op\ndata: {"a":1}\n\ndata:x\ndata: y\ndata\nunknown: z\n\nretry: 250\n',
    )
    expect(events).toEqual([
      { event: 'op', data: '{"a":1}' },
      { event: 'message', data: 'x\ny\n' },
    ])
    expect(state).toEqual({ lastEventId: '5', retryMs: 250 })
  })

  it('an event that is not whole is none, and does not move the place to go on from', async () => {
    const { events, state } = await parse('id: 1\ndata: a\n\nid: 2\ndata: b\n')
    expect(events).toEqual([{ event: 'message', data: 'a' }])
    expect(state.lastEventId).toBe('1')
  })

  it('an id alone is no event, but moves it', async () => {
    const { events, state } = await parse('id: 7\n\n')
    expect(events).toEqual([])
    expect(state.lastEventId).toBe('7')
  })

  it('how it is cut into chunks, and how its lines end, makes no difference', async () => {
    const lines = [
      '\uFEFFid: 1',
      'event: op',
      'data: ä',
      'data: b',
      '',
      ': comment',
      '',
      'id: 2',
      'data: c',
      '',
      '',
    ]
    const expected = [
      { event: 'op', data: 'ä\nb' },
      { event: 'message', data: 'c' },
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: lines.length, maxLength: lines.length }),
        fc.array(fc.nat({ max: 80 }), { maxLength: 10 }),
        async (ends, cuts) => {
          // Two ends beside each other can read as one: CR and LF.
          const text = lines
            .map((line, index) => line + (line === '' && ends[index] === '\n' ? '\r\n' : ends[index]))
            .join('')
          const places = [
            0,
            ...cuts.filter(cut => cut < text.length).sort((left, right) => left - right),
            text.length,
          ]
          const chunks = places.slice(1).map((place, index) => text.slice(places[index], place))
          expect((await parse(...chunks)).events).toEqual(expected)
        },
      ),
    )
  })
})
