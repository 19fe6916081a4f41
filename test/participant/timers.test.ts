/** All timers of a participant on its one alarm. */
import { beforeEach, expect, it } from 'vitest'
import { Timers } from '../../worker/participant/core/timers.ts'

let now: number
let alarms: number[]
let fired: string[]
let timers: Timers

beforeEach(() => {
  now = 1_000
  alarms = []
  fired = []
  timers = new Timers({ now: () => now, alarm: { set: at => alarms.push(at) } })
})

const set = (name: string, at: number) => timers.set(at, () => fired.push(name))

it('the alarm is set for the first of them, and moved only to an earlier time', () => {
  set('late', 3_000)
  timers.arm()
  set('later', 4_000)
  timers.arm()
  set('early', 2_000)
  timers.arm()
  timers.arm()
  expect(alarms).toEqual([3_000, 2_000])
})

it('what is due runs, earliest first, and the alarm is set for the rest', () => {
  set('c', 5_000)
  set('b', 3_000)
  set('a', 2_000)
  timers.arm()
  now = 3_000
  timers.fire()
  timers.arm()
  expect(fired).toEqual(['a', 'b'])
  expect(alarms).toEqual([2_000, 5_000])
})

it('an alarm that comes early finds nothing due and is set again; one that never came, too', () => {
  set('a', 2_000)
  timers.arm()
  timers.fire()
  timers.arm()
  expect(fired).toEqual([])
  now = 2_500
  timers.arm()
  expect(alarms).toEqual([2_000, 2_000, 2_501])
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
  expect(alarms).toEqual([2_001])
})

it('without any there is no alarm', () => {
  timers.cancel(set('a', 2_000))
  timers.arm()
  expect(alarms).toEqual([])
})
