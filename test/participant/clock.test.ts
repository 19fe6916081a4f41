/** A machine whose clock is set back: no instance goes on with a clock that stands still. */
import { beforeEach, describe, expect, it } from 'vitest'
import { Clock } from '../../worker/participant/core/clock.ts'
import { MemoryPlatform } from './memory-platform.ts'

const AN_HOUR_MS = 3_600_000

describe('an instance', () => {
  let now: number
  let clock: Clock

  beforeEach(() => {
    now = 10_000_000
    clock = new Clock({ now: () => now })
    clock.check(now)
  })

  it('is over when its clock stands still because that of the machine was set back', () => {
    expect(() => clock.check(now - AN_HOUR_MS)).toThrow('set back')
  })

  it('is over when its own clock was set back', () => {
    now -= AN_HOUR_MS
    expect(() => clock.check(now)).toThrow('set back')
  })

  it('goes on when clocks are corrected by less than a second, or jump ahead, or its own is behind', () => {
    clock.check(now - 999)
    now += AN_HOUR_MS
    clock.check(now)
    clock.check(now + AN_HOUR_MS)
  })

  it('does not compare clocks that differed when it began: the next instance would be no better off', () => {
    clock = new Clock({ now: () => now })
    clock.check(0)
    now += AN_HOUR_MS
    clock.check(0)
  })
})

describe('a participant of a lock, after its clock was an hour ahead and is right again', () => {
  it('answers as before, at once', async () => {
    const platform = new MemoryPlatform(3)
    const transact = (opId: string) =>
      platform.during(
        platform.node(2).call({
          ...{ type: 'transact', user: opId, opId, waitMs: 5_000, ops: [{ increment: 'count' }] },
        }),
      )
    expect(await transact('before')).toMatchObject({ type: 'done' })
    platform.now += AN_HOUR_MS
    expect(await transact('meanwhile')).toMatchObject({ type: 'done' })
    platform.now -= AN_HOUR_MS
    const since = platform.now
    // The first caller finds an instance that is over, and asks again as after any reset.
    await expect(transact('after')).rejects.toThrow('set back')
    expect(await transact('after')).toMatchObject({ type: 'done' })
    expect(platform.now - since).toBeLessThan(AN_HOUR_MS / 2)
  })
})
