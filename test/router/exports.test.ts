/** `GET …/export` goes in pages, of which an answer may get lost (worker/router/handlers/moving.ts). */
import { expect, it } from 'vitest'
import { createHarness, DEFAULTS, done, NEAR_1, stubError } from './fake.ts'

const HEAD = { configuration: DEFAULTS, epoch: 2, sequence: 9, droppedThrough: 0 }

it('asks for a page again, the last one too, and says when it has all', async () => {
  const { send, participants, background } = createHarness()
  const asked: (number | null)[] = []
  participants.onAll(call => {
    if (call.type !== 'export') throw new Error(call.type)
    const next = call.page === undefined ? 0 : call.page.next
    const isFirstTry = !asked.includes(next)
    asked.push(next)
    if (next === null) return done(200, {})
    if (next > 0 && isFirstTry) throw stubError({ durableObjectReset: true })
    const cells = [{ cell: `=${next}`, value: { value: next, revision: 1 } }]
    const page = { id: 'x', results: [], cells, next: next < 2 ? next + 1 : null }
    return done(200, JSON.parse(JSON.stringify({ ...(next === 0 && { head: HEAD }), ...page })))
  })
  const response = await send('GET', '/v1/locks/stock/export', undefined, { cf: NEAR_1 })
  expect(await response.json()).toMatchObject({ cells: [{ cell: '=0' }, { cell: '=1' }, { cell: '=2' }] })
  await Promise.all(background)
  expect(asked).toEqual([0, 1, 1, 2, 2, null])
})
