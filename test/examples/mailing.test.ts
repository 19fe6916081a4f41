/**
 * examples/mailing, as it is deployed: it reaches Baton through a service binding, and cron starts its
 * rounds.
 */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Baton, createBaton } from '../../client/index.ts'
import { WorkQueue } from '../../recipes/index.ts'
import { bundle } from '../../worker/local/build.ts'
import { COMPATIBILITY_DATE } from '../../worker/local/workerd.ts'
import { violationsIn } from './judged.ts'
import { presentOwner } from './owner.ts'
import { fileOf } from './workers.ts'

const READY_MS = 120_000
const MINUTE_MS = 60_000
let miniflare: Miniflare
let baton: Baton
let minute = 0

beforeAll(async () => {
  const worker = { modules: true, compatibilityDate: COMPATIBILITY_DATE }
  const mailing = {
    ...worker,
    name: 'mailing',
    script: await bundle(fileOf('examples/mailing/worker.ts')),
    serviceBindings: { BATON: 'baton' },
  }
  const service = {
    ...worker,
    name: 'baton',
    script: await bundle(fileOf('test/examples/crashing-baton.ts')),
    compatibilityFlags: ['enable_request_signal', 'request_signal_passthrough'],
    routes: ['baton/*'],
    durableObjects: { PARTICIPANT: { className: 'BatonParticipant', useSQLite: true } },
    bindings: { BATON_OPEN: 'true' },
  }
  miniflare = new Miniflare(convertV4MiniflareOptions({ workers: [mailing, service], cf: false }))
  await miniflare.ready
  const fetch = async (request: Request) => {
    const { method, url, headers } = request
    const body = method === 'POST' || method === 'PUT' ? { body: await request.text() } : {}
    const options = { method, headers: [...headers], ...body }
    return (await miniflare.dispatchFetch(url, options)) as unknown as Response
  }
  baton = createBaton({ fetch })
}, READY_MS)
afterAll(() => miniflare?.dispose())

/** Asks as often as the mailing says that one should. */
async function post(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
  for (;;) {
    const response = await miniflare.dispatchFetch(`http://mailing${path}`, { method: 'POST' })
    const body = await response.json()
    if (response.status !== 503) return { status: response.status, body }
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

async function sent(): Promise<number> {
  const response = await miniflare.dispatchFetch('http://mailing/sent')
  return ((await response.json()) as { readonly sent: number }).sent
}

/** As the cron trigger starts it, so many times for the same minute. */
async function startRounds(times: number): Promise<void> {
  const scheduledTime = new Date(++minute * MINUTE_MS)
  const worker = await miniflare.getWorker('mailing')
  const start = () => worker.scheduled({ scheduledTime, cron: '* * * * *' })
  await Promise.all(Array.from({ length: times }, start))
}

const crashOwner = async (name: string): Promise<void> => {
  const participant = await presentOwner(baton.lock(name))
  await miniflare.dispatchFetch(`https://baton/crash/${name}/${participant}`)
}

it('sends every mail once, whatever happens to participants and rounds', async () => {
  const people = Array.from({ length: 12 }, (_, index) => `person-${index}`)
  const accepting = Promise.all(people.map(person => post(`/mails?to=${person}`)))
  await expect
    .poll(async () => (await baton.lock('mails').list()).entries.length, { timeout: READY_MS })
    .toBeGreaterThan(6)
  await crashOwner('mails')
  for (const { status } of await accepting) expect(status).toBe(202)

  // A round that takes a mail, and is never heard of again.
  const lost = await new WorkQueue(baton.lock('mails'), { leaseMs: 2_000 }).take()
  expect(lost).not.toBeNull()

  const rounds = startRounds(3)
  await expect.poll(sent, { timeout: READY_MS }).toBeGreaterThan(2)
  await crashOwner('mails')
  await crashOwner('mail-round')
  await rounds
  await expect
    .poll(
      async () => {
        await startRounds(2)
        return sent()
      },
      { timeout: READY_MS },
    )
    .toBe(people.length)
  // The one that was lost comes back, and says that it is done: too late.
  expect(await lost!.done([{ increment: 'sent' }])).toBe(false)
  expect(await sent()).toBe(people.length)
  for (const name of ['mails', 'mail-round', 'mail-rate'])
    expect(await violationsIn(baton.lock(name))).toEqual([])
})

it('puts aside what cannot be sent, and sends the others', async () => {
  const before = await sent()
  for (const to of ['nobody-1', 'somebody'])
    expect(await post(`/mails?to=${to}`)).toMatchObject({ status: 202 })
  await startRounds(1)
  expect(await sent()).toBe(before + 1)
  const dead: string[] = []
  for await (const { id } of new WorkQueue(baton.lock('mails')).dead()) dead.push(id)
  expect(dead).toEqual(['nobody-1'])
})

it('accepts no more than its rate, and says when to come back', async () => {
  const answers = await Promise.all(Array.from({ length: 80 }, (_, index) => post(`/mails?to=many-${index}`)))
  const accepted = answers.filter(({ status }) => status === 202)
  expect(accepted.length).toBeLessThan(80)
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.body).toMatchObject({ accepted: false, retryAfterMs: expect.any(Number) })
})
