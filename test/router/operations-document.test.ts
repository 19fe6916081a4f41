/** docs/operations.md explains every metric and every line of the log, and none that does not exist. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LOG_EVENTS } from '../../shared/log.ts'
import { LOCK_METRICS, UP_METRIC } from '../../worker/router/lock-metrics.ts'
import { ROUTER_METRICS } from '../../worker/router/metrics.ts'

const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const types: { readonly [name: string]: string } = {
  [UP_METRIC]: 'gauge',
  ...Object.fromEntries(Object.keys(ROUTER_METRICS).map(name => [name, 'counter'])),
  ...Object.fromEntries(Object.entries(LOCK_METRICS).map(([name, { type }]) => [name, type])),
}

/** The cells of the rows whose first cell is one name in code. */
const rows = [...text.matchAll(/^\| `([a-z_]+)` \| (\w+) \| (.+) \|$/gm)].map(([, name, kind, meaning]) => ({
  name: name!,
  kind: kind!,
  meaning: meaning!,
}))
const metricRows = rows.filter(({ name }) => name.startsWith('baton_'))
const eventRows = rows.filter(({ name }) => !name.startsWith('baton_'))

it('has a row for every metric, with its type', () => {
  expect(Object.fromEntries(metricRows.map(({ name, kind }) => [name, kind]))).toEqual(types)
})

it('speaks of no other metric', () => {
  const named = new Set(text.match(/baton_[a-z_]+[a-z]/g))
  for (const name of named)
    expect(types).toHaveProperty(name.replace(/(?<=_seconds)_(bucket|sum|count)$/, ''))
})

it('has a row for every event of the log, with its level', () => {
  const levels = Object.fromEntries(Object.entries(LOG_EVENTS).map(([event, { level }]) => [event, level]))
  expect(Object.fromEntries(eventRows.map(({ name, kind }) => [name, kind]))).toEqual(levels)
})

it('shows a line as it is written', () => {
  const line = JSON.parse(/^\{"level".*$/m.exec(text)![0]) as {
    event: 'expired'
    message: string
    level: string
  }
  expect(line).toMatchObject(LOG_EVENTS[line.event])
})
