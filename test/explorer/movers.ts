/**
 * Partial-order reduction: which participants may be left out when a world is expanded.
 *
 * Steps of different participants commute: each changes its own seat and takes from its own inbox, and what
 * it sends goes to the end of links on which nobody else sends. So a set S of participants can be looked at
 * alone, and the others put off, if nothing that the others do before S moves can give a member of S a step
 * that it does not have already. What a member that is up can do is given by its seat and by the first
 * message of each of its links. So it is enough that every link to it from outside S holds a message.
 *
 * While a participant is down, all are looked at: what is sent to it is lost, and after its recovery it is
 * not, so its recovery commutes with no step that sends to it. A crash of one of the others may be put off
 * behind steps of S that send to it, though it would have lost what they send: a crash that comes after them
 * may also lose the last messages of a link.
 *
 * Then every run from this world begins with a step of S, or can be begun with one without changing what any
 * participant does:
 *   - budgets are counters, and two steps that can be paid for in one order can be paid for in the other;
 *   - a world is not quiet as long as S does not move, if a member of S is up and has a message: `repeat` and
 *     `propose` of the others, which wait for quiet, cannot come before;
 *   - a step of S that waits for a link to become shorter (`lag`) must wait for a member of S; otherwise all
 *     must be looked at (the search sees `blockers`).
 * If all steps of S lead to worlds that were expanded before, all participants are looked at, so that none is
 * put off forever in a cycle (the queue proviso of Bošnački and Holzmann for breadth-first search).
 *
 * Links without order have no first message that others cannot overtake: then the only such set is all
 * participants.
 */
import type { Worlds } from './worlds.ts'

export const everybodyOf = (participants: number): number => 2 ** participants - 1

/** A smallest set of participants, a bit for each, whose steps suffice. */
export function moversOf(worlds: Worlds, world: Int32Array): number {
  const everybody = everybodyOf(worlds.participants)
  if (!worlds.areLinksOrdered || isAnybodyDown(worlds, world)) return everybody
  let best = everybody
  let size = worlds.participants
  for (let movers = 1; movers < everybody; movers++) {
    const count = bitCount(movers)
    if (count >= size || !areEnough(worlds, world, movers, everybody & ~movers)) continue
    best = movers
    size = count
  }
  return best
}

function isAnybodyDown(worlds: Worlds, world: Int32Array): boolean {
  for (let index = 0; index < worlds.participants; index++) {
    if (!worlds.menuOf(world[index]!).isUp) return true
  }
  return false
}

function areEnough(
  { participants, inboxes }: Worlds,
  world: Int32Array,
  movers: number,
  others: number,
): boolean {
  for (let index = 0; index < participants; index++) {
    if ((movers & (1 << index)) === 0) continue
    if ((inboxes.inboxes[world[participants + index]!]!.silent & others) !== 0) return false
  }
  return true
}

function bitCount(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
