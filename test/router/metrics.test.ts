/** `/metrics?lock=`: the participants of the named locks, of any version, and only of the key's locks. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { Measurements } from '../../worker/participant/observe/measurements.ts'
import { parsePrometheus } from '../service/prometheus.ts'
import { createHarness, done, statusOf } from './fake.ts'
import { refusal } from './refusal.ts'

it('tells what each participant counts; one that is silent is down, one of before tells less', async () => {
  const { send, participants } = createHarness()
  const measurements = new Measurements()
  const moment = { participant: 1, user: 'u', fence: 1 }
  measurements.onStep(
    [
      { ...moment, at: 0, type: 'try' },
      { ...moment, at: 30, type: 'crit', epoch: 4 },
      { ...moment, at: 2_030, type: 'ejected', reason: 'operator' },
    ],
    [],
  )
  participants
    .on(1, () => done(200, statusOf({ measurements: measurements.report(), epoch: 4, queue: 2 })))
    .on(2, () => {
      throw new Error('gone')
    })
    .on(3, () => done(200, statusOf()))
  const samples = parsePrometheus(await (await send('GET', '/metrics?lock=one,two,one')).text())
  const of = (name: string, lock: string) =>
    samples
      .filter(sample => sample.name === `baton_participant_${name}` && sample.labels.lock === lock)
      .map(({ labels, value }) => [labels.participant, value])
  for (const lock of ['one', 'two']) {
    expect(of('up', lock)).toEqual([
      ['1', 1],
      ['2', 0],
      ['3', 1],
    ])
    expect(of('grants_total', lock)).toEqual([['1', 1]])
    expect(of('wait_seconds_sum', lock)).toEqual([['1', 0.03]])
    expect(of('hold_seconds_count', lock)).toEqual([['1', 1]])
    expect(of('waiting', lock)).toEqual([
      ['1', 2],
      ['3', 0],
    ])
  }
  expect(of('epoch', 'one')[0]).toEqual(['1', 4])
  const causes = samples.filter(
    ({ name, labels }) => name.endsWith('ejections_total') && labels.lock === 'one',
  )
  expect(causes.map(({ labels, value }) => [labels.cause, value])).toEqual([
    ['suspected', 0],
    ['operator', 1],
    ['expired', 0],
  ])
})

it('403 for a lock that is not one of the key, 200 without', async () => {
  const hash = createHash('sha256').update('scraper').digest('hex')
  const keys = JSON.stringify([{ name: 'scraper', hash, locks: ['mine-*'], verbs: ['metrics'] }])
  const { send, participants } = createHarness({ keys })
  const status = async (path: string) =>
    (await send('GET', path, undefined, { headers: { authorization: 'Bearer scraper' } })).status
  expect(await status('/metrics')).toBe(200)
  expect(await status('/metrics?lock=mine-1,other')).toBe(403)
  expect(participants.asked).toEqual([])
  expect(await status('/metrics?lock=mine-1')).toBe(200)
})

it.each([
  '',
  ',',
  'a,',
  '!',
  'a b',
  Array(API_LIMITS.locksPerScrape + 1)
    .fill('a')
    .join(','),
])('400 for lock=%s', async lock => {
  expect(await refusal(400, 'GET', `/metrics?lock=${encodeURIComponent(lock)}`)).toMatchObject({
    code: 'bad_request',
  })
})
