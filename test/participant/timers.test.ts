/** All timers of a participant on one timeout, which is free, and one alarm, which survives the instance. */
import { beforeEach, expect, it } from 'vitest'
import { Timers } from '../../worker/participant/core/timers.ts'

let now: number
let alarms: number[]
let timeout: { at: number; run: () => void } | null
let fired: string[]
let timers: Timers

beforeEach(() => {
  now = 1_000
  alarms = []
  timeout = null
  fired = []
  const runtime = {
    now: () => now,
    alarm: { set: (at: number) => alarms.push(at) },
    timeout: {
      set: (afterMs: number, run: () => void) => {
        timeout = { at: now + afterMs, run }
      },
    },
  }
  timers = new Timers(runtime, () => {
    timers.fire()
    timers.arm()
  })
})

const set = (name: string, at: number) => timers.set(at, () => fired.push(name))

/** Lets time pass, with the timeouts that end meanwhile. */
function passTo(end: number): void {
  while (timeout !== null && timeout.at <= end) {
    const { at, run } = timeout
    timeout = null
    now = at
    run()
  }
  now = end
}

it('what is over within a second costs no alarm', () => {
  set('a', 1_500)
  timers.cancel(set('cancelled', 60_000))
  timers.arm()
  passTo(60_000)
  expect(fired).toEqual(['a'])
  expect(alarms).toEqual([])
})

it('what is due runs, earliest first', () => {
  set('c', 1_900)
  set('b', 1_300)
  set('a', 1_200)
  timers.arm()
  passTo(1_250)
  expect(fired).toEqual(['a'])
  now = 2_000
  timers.fire()
  expect(fired).toEqual(['a', 'b', 'c'])
})

it('what is there for longer than a second gets the alarm behind it, and runs at its time', () => {
  set('a', 4_000)
  timers.arm()
  passTo(1_999)
  expect(alarms).toEqual([])
  passTo(2_000)
  expect(alarms).toEqual([9_000])
  passTo(4_000)
  expect(fired).toEqual(['a'])
})

it('what is far away is left to the alarm', () => {
  set('a', 60_000)
  timers.arm()
  passTo(59_999)
  expect(alarms).toEqual([60_000])
  expect(timeout).toBeNull()
  now = 60_000
  timers.onAlarm()
  expect(fired).toEqual(['a'])
})

it('the alarm is moved only to an earlier time', () => {
  set('late', 60_000)
  timers.arm()
  passTo(3_000)
  set('later', 70_000)
  timers.arm()
  passTo(6_000)
  set('early', 50_000)
  timers.arm()
  passTo(9_000)
  timers.arm()
  expect(alarms).toEqual([60_000, 50_000])
})

it('an alarm that comes early finds nothing due and is set again; one that never came, too', () => {
  set('a', 60_000)
  timers.arm()
  passTo(20_000)
  timers.onAlarm()
  timers.arm()
  expect(fired).toEqual([])
  now = 61_000
  timers.arm()
  expect(alarms).toEqual([60_000, 60_000, 66_000 - 1_000])
})

it('one that is cancelled does not run, also if another that is due cancels it', () => {
  const never = set('never', 2_000)
  timers.cancel(never)
  const last = set('last', 3_000)
  timers.set(2_500, () => timers.cancel(last))
  now = 4_000
  timers.fire()
  expect(fired).toEqual([])
})

it('one that a due one sets waits for its own time', () => {
  timers.set(2_000, () => set('next', now))
  now = 2_000
  timers.fire()
  expect(fired).toEqual([])
  timers.arm()
  passTo(2_000)
  expect(fired).toEqual(['next'])
})

it('without any there is neither timeout nor alarm', () => {
  timers.cancel(set('a', 2_000))
  timers.arm()
  expect(alarms).toEqual([])
  expect(timeout).toBeNull()
})

it('a clock that leaps forward makes nobody wait for a timeout that should be over', () => {
  set('far', 9_000)
  timers.arm()
  passTo(3_000)
  // The clock is set forward. The timeout still ends when it would have ended.
  now = 12_000
  timers.fire()
  expect(fired).toEqual(['far'])
  set('near', 12_100)
  timers.arm()
  expect(timeout!.at).toBe(12_100)
})
