/** Users that were overtaken too often, whatever became of them (H9). */
import { expect, test } from 'vitest'
import { build, type HistoryBuilder, violations } from './builder.ts'

const HEADER = { protocol: 'ricart-agrawala', localHandoffs: 0 }
const calm = () => build(HEADER).push({ type: 'calm' })

function writersCome(builder: HistoryBuilder, times: number, firstFence: number): HistoryBuilder {
  for (let fence = firstFence; fence < firstFence + times; fence++)
    builder.enter('b', fence, 2).leave('b', fence, 2)
  return builder
}

test('a user that was overtaken too often has been wronged, also if it gives up at last', () => {
  const waited = writersCome(calm().try('a'), 100, 1)
  expect(violations(waited.withdrawn('a').push({ type: 'fault' }))).toEqual(['starvation-freedom'])
})

test('a reader that is said to be inside is no excuse for writers that come and go', () => {
  const waited = writersCome(calm().try('r', 1, 'shared').crit('r', 1).try('a'), 100, 2)
  const told = waited.ejected('r', 1, { reason: 'expired' }).crit('a', 200).leave('a', 200)
  expect(violations(told.push({ type: 'fault' }))).toEqual(['starvation-freedom'])
})
