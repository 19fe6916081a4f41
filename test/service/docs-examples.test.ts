/**
 * The examples of `/docs` are true: each curl line is run as it stands there, and answers in the shape that
 * stands below it.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { sessionEvent, watchEvents } from '../../shared/api/events.ts'
import { EXAMPLES } from '../../shared/api/examples.ts'
import { ROUTE_IDS, type RouteId } from '../../shared/api/routes.ts'
import type { SessionEvent, SessionMessage } from '../../shared/api/session.ts'
import type { Json } from '../../shared/json.ts'
import { openWatch } from './event-stream.ts'
import { useService } from './harness.ts'
import { TestLock } from './lock.ts'
import { openSession } from './session-socket.ts'

const run = promisify(execFile)
const service = useService()
/** The lock of the examples. */
const demo = new TestLock('demo', () => service.url)
const variables: { [name: string]: string } = {}

/** What has to be so that the next line of the page can do what it says. */
const BEFORE: { readonly [id in RouteId]?: () => Promise<void> } = {
  ticket: async () => {
    const holder = await demo.granted()
    variables.TICKET = (await demo.queued({ owner: 'checkout-7' })).id
    await demo.released(holder)
  },
  withdraw: async () => {
    variables.TICKET = (await demo.queued()).id
  },
}

async function curlLines(): Promise<Map<RouteId, string>> {
  const page = await (await fetch(`${service.url}/docs`)).text()
  const lines = page.matchAll(
    /<section id="(\w+)">(?:(?!<section)[\s\S])*?<pre class="curl"><code>([^<]*)<\/code>/g,
  )
  return new Map([...lines].map(([, id, line]) => [id as RouteId, readable(line!)]))
}

const readable = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** Types and names of members, without values. A list has the shapes of its items. */
function shapeOf(value: Json): Json {
  if (Array.isArray(value)) return [...new Set(value.map(item => JSON.stringify(shapeOf(item))))].sort()
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(members.map(([name, inner]) => [name, shapeOf(inner)]))
}

it('every curl line of the page answers as the page says', async () => {
  const lines = await curlLines()
  expect([...lines.keys()]).toEqual(ROUTE_IDS)
  for (const [id, line] of lines) {
    await BEFORE[id]?.()
    const { status, answer, text } = EXAMPLES[id]
    // What stays open is left after a second, which curl calls a failure.
    const script = `${line.replace('curl ', "curl -m 2 -w '\\n%{http_code}' ")} || true`
    const { stdout } = await run('sh', ['-c', script], { env: { ...process.env, ...variables } })
    const end = stdout.lastIndexOf('\n')
    expect(Number(stdout.slice(end + 1)), `${line}\n${stdout}`).toBe(status)
    const body = stdout.slice(0, end)
    if (answer !== undefined) expectShape(id, JSON.parse(body), answer)
    if (text !== undefined) expectLines(body, text)
    if (id === 'acquire') variables.GRANT = (JSON.parse(body) as { grant: { id: string } }).grant.id
  }
})

/**
 * A participant that lags behind has recorded less: its list of events is a shorter one of the same kinds.
 */
function expectShape(id: RouteId, body: Json, example: Json): void {
  if (id !== 'history') return expect(shapeOf(body), id).toEqual(shapeOf(example))
  const kinds = (history: Json) =>
    (history as { participants: { events: Json[] }[] }).participants.flatMap(({ events }) =>
      events.map(event => JSON.stringify(shapeOf(event))),
    )
  expect(kinds(example)).toEqual(expect.arrayContaining(kinds(body)))
  const outside = (history: Json) => shapeOf({ ...(history as { [name: string]: Json }), participants: [] })
  expect(outside(body)).toEqual(outside(example))
}

/** Each line of the example is there, whatever its numbers are. */
function expectLines(body: string, example: string): void {
  const pattern = (line: string) => line.replaceAll(/[0-9]+/g, '0')
  const there = body.split('\n').map(pattern)
  for (const line of example.trimEnd().split('\n')) expect(there).toContain(pattern(line))
}

describe('what stays open', () => {
  it('a session sends what its schema says', async () => {
    const lock = service.lock()
    const session = await openSession(`${service.url}/v1/locks/${lock.name}/session`)
    const said: readonly [SessionMessage, SessionEvent['type']][] = [
      [{ type: 'exit' }, 'error'],
      [{ type: 'try' }, 'crit'],
      [{ type: 'issue', opId: 'o', ops: [{ increment: 'n' }, { append: 'l', value: 1 }] }, 'outcome'],
      [{ type: 'exit' }, 'rem'],
    ]
    for (const [message, answer] of said) {
      session.send(message)
      expect(sessionEvent.safeParse(await session.nextOf(answer)).error).toBeUndefined()
    }
    session.send({ type: 'try', ttlMs: 600_000 })
    const { fence } = await session.nextOf('crit')
    await lock.eject({ fence })
    expect(sessionEvent.safeParse(await session.nextOf('ejected')).error).toBeUndefined()
    session.close()
  })

  it('a watch sends what its schemas say', async () => {
    const lock = await service.lock().created()
    const watch = await openWatch(`${service.url}/v1/locks/${lock.name}/watch`)
    await lock.transacted([{ put: 'a', value: 1 }], { opId: 'one' })
    await lock.transacted([{ delete: 'a' }], { opId: 'two' })
    const events = await watch.upTo('two')
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['op', 'holder']))
    for (const { event, data } of events)
      expect(watchEvents[event as 'op' | 'holder'].safeParse(data).error).toBeUndefined()
    watch.close()
  })
})
