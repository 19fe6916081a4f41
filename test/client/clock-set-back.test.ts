/** The clock of the machine is set back: nobody believes for longer to hold a lock, or waits for longer. */
import { afterEach, expect, it, vi } from 'vitest'
import { systemClock } from '../../client/clock.ts'
import { createBaton, ExpiredError } from '../../client/index.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const HOUR_MS = 3_600_000

function setBack(): void {
  const now = Date.now.bind(Date)
  vi.spyOn(Date, 'now').mockImplementation(() => now() - HOUR_MS)
}

it('a holder that reaches nobody knows within the time to live that the lock is lost', async () => {
  let isCutOff = false
  const baton = createBaton({
    fetch: () => {
      if (isCutOff) throw new TypeError('no network')
      const grant = { id: '1-1-a', fence: 1, participant: 1, epoch: 0, expiresAt: '', ttlMs: 1_000 }
      return Response.json({ grant })
    },
  })
  const held = await baton.lock('orders').acquire()
  isCutOff = true
  setBack()
  await vi.waitFor(() => expect(held.signal.aborted).toBe(true), { timeout: 5_000 })
  expect(held.lost).toBeInstanceOf(ExpiredError)
})

it('a holder without keep-alives knows it as well', async () => {
  const grant = { id: '1-1-a', fence: 1, participant: 1, epoch: 0, expiresAt: '', ttlMs: 1_000 }
  const held = await createBaton({ fetch: () => Response.json({ grant }) })
    .lock('orders')
    .acquire({ keepAlive: false })
  setBack()
  await vi.waitFor(() => expect(held.signal.aborted).toBe(true), { timeout: 5_000 })
  expect(held.lost).toBeInstanceOf(ExpiredError)
})

it('it does not go back, goes on all the same, and follows the clock of the machine ahead', async () => {
  const before = systemClock.now()
  setBack()
  expect(systemClock.now()).toBeGreaterThanOrEqual(before)
  await systemClock.sleep(50)
  const passedMs = systemClock.now() - before
  expect(passedMs).toBeGreaterThanOrEqual(45)
  expect(passedMs).toBeLessThan(5_000)
  vi.restoreAllMocks()
  const now = Date.now.bind(Date)
  // As after a sleep, in which the monotonic clock stood still.
  vi.spyOn(Date, 'now').mockImplementation(() => now() + HOUR_MS)
  expect(systemClock.now() - before).toBeGreaterThanOrEqual(HOUR_MS)
})
