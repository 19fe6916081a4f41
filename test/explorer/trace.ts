/** Steps and runs in words. */
import type { Mail } from './mail.ts'
import { CHANGE, CRASH, FIRST_MESSAGE, RECOVER, TIMERS, USER_ACTIONS } from './seats.ts'
import { textOf } from './values.ts'
import { KEPT, LOST, STRAYED, WAY_TO_LOSE, type Worlds } from './worlds.ts'

/** The words name the same step in another search, where all numbers are different. */
export function describeStep(worlds: Worlds, participant: number, input: number, how: number): string {
  const who = `participant ${participant}`
  if (input === CRASH) return `${who} crashes${lossOf(how)}`
  if (input === RECOVER) return `${who} recovers${crashOf(how)}`
  if (input >= FIRST_MESSAGE) {
    const mail = describeMail(worlds.seats.messages.mails[input - FIRST_MESSAGE]!)
    if (how === LOST) return `${mail} to ${participant} is lost`
    if (how === STRAYED) return `${mail} to ${participant} leaves its order`
    return `${who} receives ${mail}${how === KEPT ? ', which stays in flight' : ''}${crashOf(how)}`
  }
  if (input === CHANGE) return `${who}: an operator asks for other members${crashOf(how)}`
  if (input > RECOVER) return `${who}: participant ${input - RECOVER} cannot be reached${crashOf(how)}`
  if (input < TIMERS.length) return `${who}: the timer '${TIMERS[input]}' fires${crashOf(how)}`
  return `${who}: its user says '${USER_ACTIONS[input - TIMERS.length]}'${crashOf(how)}`
}

const crashOf = (how: number): string =>
  how < 0
    ? ''
    : `, and crashes after the save and ${how % WAY_TO_LOSE} of what it sends and says${lossOf(how)}`

const lossOf = (how: number): string =>
  how < WAY_TO_LOSE ? '' : `, and some of what is on its way to it is lost (${Math.floor(how / WAY_TO_LOSE)})`

function describeMail({ from, message }: Mail): string {
  const { type, ...rest } = message.body
  return `${type} ${textOf(rest)} from ${from}`
}

/** Does the step that has these words. Returns the world after it, or null if it is not possible. */
export function doStep(worlds: Worlds, world: Int32Array, step: string): Int32Array | null {
  worlds.expandOnly(
    world,
    (participant, input, how) => describeStep(worlds, participant, input, how) === step,
  )
  return worlds.count === 0 ? null : worlds.successors.slice(0, worlds.width)
}

/** The steps of a run with what each of them sends. */
export function tell(worlds: Worlds, steps: readonly string[]): string[] {
  let world = worlds.initial()
  return steps.map((step, index) => {
    const after = doStep(worlds, world, step)
    const sent = after === null ? '' : describeSent(worlds, world)
    if (after !== null) world = after
    return `${index + 1}. ${step}${sent}`
  })
}

/** What the last step has sent. */
function describeSent(worlds: Worlds, world: Int32Array): string {
  const { seats, steps } = worlds
  const [participant, input, how] = steps
  if (how === LOST || how === STRAYED || input === CRASH) return ''
  const seat = world[participant! - 1]!
  const { sends } =
    how! >= 0 ? seats.crashesIn(seat, input!)[how! % WAY_TO_LOSE]! : seats.results[seats.step(seat, input!)]!
  const parts: string[] = []
  for (let at = 0; at < sends.length; at += 2) {
    parts.push(`${seats.messages.mails[sends[at + 1]!]!.message.body.type} to ${sends[at]}`)
  }
  return parts.length === 0 ? '' : ` -> sends ${parts.join(', ')}`
}
