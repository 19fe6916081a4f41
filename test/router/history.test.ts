/** A history comes in pages, with a limited number of events of each participant. */
import { describe, expect, it } from 'vitest'
import { wholeHistory } from '../../client/history.ts'
import { createBaton } from '../../client/index.ts'
import type { HistoryAnswer } from '../../shared/api/types.ts'
import type { Json } from '../../shared/json.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { createHarness, DEFAULTS, done, place, problemOf, statusOf, usualAnswer } from './fake.ts'

const PATH = '/v1/locks/jobs/history'
const crash = () => {
  throw new Error('Network connection lost.')
}

/** A participant with this many events, which it gives in pages. */
const recorder = (id: number, events: number) => (call: ParticipantCall) => {
  if (call.type !== 'history') return usualAnswer(call, id)
  const from = Number(call.cursor ?? 0)
  const page = Array.from({ length: events }, (_, at) => ({ at, type: 'try', participant: id })).slice(from)
  const limit = call.limit!
  const cursor = page.length > limit ? String(from + limit) : null
  return done(200, { events: page.slice(0, limit), cursor } as unknown as Json)
}

function recording(...events: number[]) {
  const harness = createHarness()
  for (const [index, count] of events.entries())
    harness.participants.on(index + 1, recorder(index + 1, count))
  const page = async (cursor: string | null, limit = 2) => {
    const query = cursor === null ? '' : `&cursor=${cursor}`
    return (await (await harness.send('GET', `${PATH}?limit=${limit}${query}`)).json()) as HistoryAnswer
  }
  const fetch = (request: Request) => harness.app.fetch(request, {})
  return { ...harness, page, lock: createBaton({ fetch }).lock('jobs') }
}

const shape = ({ participants }: HistoryAnswer) =>
  participants.map(({ id, reachable, events }) => [id, reachable, events.map(({ at }) => at)])

describe('the pages of a history', () => {
  it('have so many events of each participant, and go on where they ended', async () => {
    const { page } = recording(5, 2, 3)
    const first = await page(null)
    expect(shape(first)).toEqual([
      [1, true, [0, 1]],
      [2, true, [0, 1]],
      [3, true, [0, 1]],
    ])
    const second = await page(first.cursor)
    expect(shape(second)).toEqual([
      [1, true, [2, 3]],
      [3, true, [2]],
    ])
    const third = await page(second.cursor)
    expect(shape(third)).toEqual([[1, true, [4]]])
    expect(third.cursor).toBeNull()
  })

  it('ask one that did not answer again, from where it was', async () => {
    const { page, participants } = recording(5, 5, 1)
    const first = await page(null)
    participants.on(2, crash)
    const second = await page(first.cursor)
    expect(shape(second)).toEqual([
      [1, true, [2, 3]],
      [2, false, []],
    ])
    participants.on(2, recorder(2, 5))
    expect(shape(await page(second.cursor))).toEqual([
      [1, true, [4]],
      [2, true, [2, 3]],
    ])
  })

  it('regression: ask one that has left the lock, and did not answer, again from where it was', async () => {
    const { page, participants, lock } = recording(5, 5, 1, 1)
    const present = [...DEFAULTS.participants.slice(1), { ...place(4, 'oc'), address: 'oc@' }]
    const status = statusOf({ configuration: { ...DEFAULTS, number: 2, participants: present } })
    const member = (id: number, events: number) => (call: ParticipantCall) =>
      call.type === 'status' ? done(200, status) : recorder(id, events)(call)
    participants.on(2, member(2, 5)).on(3, member(3, 1)).on(4, member(4, 1))
    const first = await page(null)
    expect(shape(first)).toContainEqual([1, true, [0, 1]])
    participants.on(1, crash)
    const second = await page(first.cursor)
    expect(shape(second)).toEqual([
      [1, false, []],
      [2, true, [2, 3]],
    ])
    participants.on(1, recorder(1, 5))
    expect(shape(await page(second.cursor))).toEqual([
      [1, true, [2, 3]],
      [2, true, [4]],
    ])
    expect((await lock.history()).participants.map(({ id }) => id)).toEqual([2, 3, 4, 1])
  })

  it('end when nobody that answers has more', async () => {
    const { page, participants } = recording(2, 2, 2)
    participants.on(2, crash)
    expect((await page(null)).cursor).toBeNull()
  })

  it('are one page from a participant of before, which gives all at once', async () => {
    const { page } = recording()
    const first = await page(null)
    expect(shape(first)).toEqual([
      [1, true, [1]],
      [2, true, [1]],
      [3, true, [1]],
    ])
    expect(first.cursor).toBeNull()
  })

  it.each(['x', 'e30', 'W10', 'eyJ4IjoiMSJ9', 'eyIxIjoxfQ', 'eyI1MDAwIjoiMSJ9'])(
    'do not begin at the cursor %s',
    async cursor => {
      const { send } = recording(5, 5, 5)
      const response = await send('GET', `${PATH}?cursor=${cursor}`)
      expect(response.status).toBe(400)
      expect((await problemOf(response)).errors).toMatchObject([{ in: 'query', path: 'cursor' }])
    },
  )

  it.each([0, 1_001, '1.5'])('have no limit of %s', async limit => {
    expect((await recording(1).send('GET', `${PATH}?limit=${limit}`)).status).toBe(400)
  })
})

describe('the client', () => {
  it('reads all pages', async () => {
    const { lock } = recording(2_500, 1_000, 0)
    const { participants, ...about } = await lock.history()
    expect(about).toEqual({ lock: 'jobs', protocol: 'wme-2', resource: 'key-value' })
    expect(participants.map(({ id, events }) => [id, events.length])).toEqual([
      [1, 2_500],
      [2, 1_000],
      [3, 0],
    ])
    expect(participants[0]!.events.map(({ at }) => at)).toEqual(Array.from({ length: 2_500 }, (_, at) => at))
  })

  it('reports a participant that went away on the way as missing, and does not ask forever', async () => {
    const { lock, participants } = recording(5, 5, 0)
    const pages = lock.historyPages({ limit: 2 })
    const first = await pages.next()
    participants.on(1, crash).on(2, crash)
    const rest = async function* () {
      yield first.value!
      yield* pages
    }
    const whole = await wholeHistory(rest())
    expect(whole.participants.map(({ id, reachable }) => [id, reachable])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ])
  })
})
