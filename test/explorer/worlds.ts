/**
 * A world is a row of numbers: the seat of each participant, the inbox of each participant, and what is left
 * of the budgets. `expand` finds the worlds that are one step away.
 *
 * Which steps there are:
 *   - the first message of each link to a participant that is up, and any stray, may be delivered; or
 *     delivered and kept (a duplicate); or lost; or become a stray;
 *   - any user may do what its automaton allows;
 *   - any participant may crash, between two steps or in the middle of one; one that is down may come back;
 *   - a detector suspects whenever it may, within the budgets (bound.ts): `suspect` fires, where a protocol
 *     has that timer (a transport that reports a peer as unreachable has exactly the same effect there), or
 *     else a watched peer cannot be reached;
 *   - `flush` and `spread` fire whenever they are set: they send the DOINVOKE of wme-2, and what the rest
 *     lacks of an operation that went to a majority first;
 *   - `propose` fires in a *quiet* world, where no link holds a message to a participant that is up, and
 *     begins a bounded number of rounds of ballots in each epoch: a proposer that is behind and whose
 *     question was lost would otherwise try ever higher ones;
 *   - `repeat` and `members` fire in a quiet world, if something was lost or a participant crashed, or if no
 *     user can do anything;
 *   - `repeat`, `members`, `propose` and `heartbeat` fire in any world for one of the budget of hurries.
 *
 * What the conditions on `repeat` and `propose` give up, beyond the hurries: repeats that cross what is still
 * in flight (one more copy of it, which the budget of duplicates stands for, or one with newer content) and
 * proposers that duel without a loss or a crash. Where nothing was lost, a repeat says nothing that has not
 * arrived. Without the conditions repeats would fill the network without end; for the same reason a repeat
 * adds no message that is waiting already.
 *
 * What is sent to a participant *while it is down* is lost, because nobody listens. Of what was in flight
 * when it crashed, the last messages of each link may be lost with it, and the others still arrive. So
 * repeats to a participant that is down do not pile up. A run in which such a message arrives after the
 * recovery is, up to the conditions above, one in which the participant recovers before the message is sent,
 * and is slow: its recovery depends on its storage alone, and what it sends then may be delivered later. What
 * is given up are messages that others sent because they had waited in vain (a repeat, a ballot), that are
 * out of date when the participant comes back, and that it reads all the same; the budgets of duplicates and
 * stragglers bring such messages about.
 */
import { type Bound, Budgets, budgetOf } from './bound.ts'
import type { Findings } from './findings.ts'
import { Inboxes } from './mail.ts'
import type { Menu } from './menu.ts'
import { everybodyOf } from './movers.ts'
import { CRASH, FIRST_MESSAGE, inputOfTimer, RECOVER, type Result, type SeatTable } from './seats.ts'

/**
 * How a step goes. From 0 on: with a crash before this many of the messages and events. A crash may lose some
 * of what is on its way to the participant, and each way to lose it counts as that many more.
 */
export const NORMAL = -1
export const WAY_TO_LOSE = 1_000
/** The message stays in flight. */
export const KEPT = -2
/** The message is lost and nobody steps. */
export const LOST = -3
/** The message leaves its order and nobody steps. */
export const STRAYED = -4

const REPEAT = inputOfTimer('repeat')
const CALL = inputOfTimer('members')
const PROPOSE = inputOfTimer('propose')
const HEARTBEAT = inputOfTimer('heartbeat')
const TTL = inputOfTimer('ttl')

const CRASHES = budgetOf('crashes')
const SUSPICIONS = budgetOf('suspicions')
const LOSSES = budgetOf('losses')
const DUPLICATES = budgetOf('duplicates')
const STRAGGLERS = budgetOf('stragglers')
const HURRIES = budgetOf('hurries')
const EXPIRIES = budgetOf('expiries')

const NOTHING: readonly number[] = []

/** Whether to look at a step, given by participant, input and how it goes. */
export type StepFilter = (participant: number, input: number, how: number) => boolean

export class Worlds {
  readonly seats: SeatTable
  readonly inboxes: Inboxes
  readonly budgets: Budgets
  readonly participants: number
  readonly areLinksOrdered: boolean
  /** Numbers in a world. */
  readonly width: number
  /**
   * The worlds that the last `expand` found, one after the other, and how each was reached: participant,
   * input, how.
   */
  count = 0
  successors = new Int32Array(1024)
  steps = new Int32Array(1024)
  /**
   * A bit for each participant that must read its messages first, because a step would make a link to it too
   * long.
   */
  blockers = 0
  isQuiet = false
  private world: Int32Array = new Int32Array(0)
  private readonly menus: Menu[] = []
  private readonly findings: Findings
  private readonly lag: number
  private readonly ballots: number
  private isLagFree = false
  private isWanted: StepFilter | null = null

  constructor(seats: SeatTable, bound: Bound, findings: Findings) {
    this.findings = findings
    this.participants = bound.participants
    this.width = 2 * bound.participants + 1
    this.lag = bound.lag
    this.ballots = bound.ballots
    this.budgets = new Budgets(bound)
    this.seats = seats
    this.areLinksOrdered = bound.order === 'link'
    this.inboxes = new Inboxes(this.seats.messages, this.areLinksOrdered)
  }

  initial(): Int32Array {
    const { participants, inboxes } = this
    const world = new Int32Array(this.width)
    world[2 * participants] = this.budgets.initial
    for (let index = 0; index < participants; index++) {
      world[participants + index] = inboxes.empty(index + 1, participants)
    }
    for (let index = 0; index < participants; index++) {
      const { seat, sends } = this.seats.born(index + 1)
      world[index] = seat
      for (let at = 0; at < sends.length; at += 2) {
        const place = participants + sends[at]! - 1
        world[place] = inboxes.add(world[place]!, sends[at + 1]!)
      }
    }
    return world
  }

  /** Finds all steps of the `movers`, a bit for each participant. */
  expand(world: Int32Array, movers: number): void {
    this.world = world
    this.count = 0
    this.blockers = 0
    this.isQuiet = this.findQuiet()
    const mayRepeat = this.isQuiet && this.isRepeatOfUse()
    for (let index = 0; index < this.participants && this.findings.violation === null; index++) {
      if ((movers & (1 << index)) === 0) continue
      const menu = this.menuOf(world[index]!)
      if (!menu.isUp) {
        this.step(index, RECOVER)
        continue
      }
      this.expandMessages(index)
      for (const { input, budget } of menu.user) this.stepFor(index, input, budget)
      this.expandTimers(index, menu, mayRepeat)
      this.stepFor(index, CRASH, CRASHES)
    }
  }

  /** All steps of all participants, including those that make a link longer than the bound allows. */
  expandFreely(world: Int32Array): void {
    this.isLagFree = true
    this.expand(world, everybodyOf(this.participants))
    this.isLagFree = false
  }

  /** The one step that is wanted, if it is possible. No other is computed. */
  expandOnly(world: Int32Array, isWanted: StepFilter): void {
    this.isWanted = isWanted
    this.expandFreely(world)
    this.isWanted = null
  }

  menuOf(seat: number): Menu {
    const known = this.menus[seat]
    if (known !== undefined) return known
    const menu = this.seats.menuOf(seat)
    this.menus[seat] = menu
    return menu
  }

  // ---------------------------------------------------------------- the kinds of steps

  private expandMessages(index: number): void {
    const number = this.world[this.participants + index]!
    const { heads, distinctStrays } = this.inboxes.inboxes[number]!
    if (heads.length === 0 && distinctStrays.length === 0) return
    const budgets = this.world[2 * this.participants]!
    const afterLoss = this.budgets.spend(budgets, LOSSES)
    const afterCopy = this.budgets.spend(budgets, DUPLICATES)
    const afterStraying = this.budgets.spend(budgets, STRAGGLERS)
    const seat = this.world[index]!
    for (const message of heads) {
      const input = FIRST_MESSAGE + message
      const left = this.inboxes.take(number, message)
      this.stepWith(index, input, NORMAL, left, budgets)
      if (afterCopy !== -1) this.stepWith(index, input, KEPT, this.inboxes.stray(number, message), afterCopy)
      if (afterLoss !== -1) this.arrive(index, input, LOST, seat, left, afterLoss, NOTHING)
      if (afterStraying === -1) continue
      this.arrive(index, input, STRAYED, seat, this.inboxes.stray(number, message), afterStraying, NOTHING)
    }
    for (const message of distinctStrays) {
      const input = FIRST_MESSAGE + message
      const left = this.inboxes.takeStray(number, message)
      this.stepWith(index, input, NORMAL, left, budgets)
      if (afterCopy !== -1) this.stepWith(index, input, KEPT, number, afterCopy)
      // A stray of an ordered link may never arrive, so losing it is nothing new.
      if (afterLoss !== -1 && !this.areLinksOrdered)
        this.arrive(index, input, LOST, seat, left, afterLoss, NOTHING)
    }
  }

  private expandTimers(index: number, menu: Menu, mayRepeat: boolean): void {
    for (const input of menu.flushes) this.step(index, input)
    if (menu.canExpire) this.stepFor(index, TTL, EXPIRIES)
    for (const input of menu.suspicions) {
      const after = this.budgets.spendDoubt(this.world[2 * this.participants]!, index + 1)
      const paid = after === -1 || menu.isAsked ? after : this.budgets.spend(after, SUSPICIONS)
      if (paid !== -1) this.stepWith(index, input, NORMAL, this.world[this.participants + index]!, paid)
    }
    if (menu.canRepeat) this.stepFor(index, REPEAT, mayRepeat ? -1 : HURRIES)
    if (menu.canCall) this.stepFor(index, CALL, mayRepeat ? -1 : HURRIES)
    const mayPropose = this.isQuiet && (menu.rounds < this.ballots || this.isLagFree)
    if (menu.canPropose) this.stepFor(index, PROPOSE, mayPropose ? -1 : HURRIES)
    if (menu.canBeat) this.stepFor(index, HEARTBEAT, HURRIES)
  }

  /** A step that costs one of this budget; -1: nothing. */
  private stepFor(index: number, input: number, budget: number): void {
    const before = this.world[2 * this.participants]!
    const after = budget === -1 ? before : this.budgets.spend(before, budget)
    if (after !== -1) this.stepWith(index, input, NORMAL, this.world[this.participants + index]!, after)
  }

  private step(index: number, input: number): void {
    this.stepFor(index, input, -1)
  }

  // ---------------------------------------------------------------- the worlds that they lead to

  private stepWith(index: number, input: number, how: number, inbox: number, budgets: number): void {
    if (this.findings.violation !== null) return
    const seat = this.world[index]!
    if (input === CRASH) {
      const result = this.seats.results[this.seats.step(seat, CRASH)]!
      return this.crash(index, input, how, result, inbox, budgets)
    }
    if (this.isWanted === null || this.isWanted(index + 1, input, how)) {
      const result = this.seats.results[this.seats.step(seat, input)]!
      this.arrive(index, input, how, result.seat, inbox, budgets, result.sends)
    }
    const afterCrash = this.budgets.spend(budgets, CRASHES)
    if (afterCrash === -1 || this.findings.violation !== null) return
    const cuts = this.seats.crashesIn(seat, input)
    for (let cut = 0; cut < cuts.length; cut++) this.crash(index, input, cut, cuts[cut]!, inbox, afterCrash)
  }

  /** What was sent last to the participant that crashes may be lost with it. */
  private crash(
    index: number,
    input: number,
    how: number,
    after: Result,
    inbox: number,
    budgets: number,
  ): void {
    const left = this.areLinksOrdered ? this.inboxes.prefixesOf(inbox) : [inbox]
    for (let way = 0; way < left.length; way++) {
      const cut = way === 0 ? how : Math.max(how, 0) + way * WAY_TO_LOSE
      this.arrive(index, input, cut, after.seat, left[way]!, budgets, after.sends)
    }
  }

  private arrive(
    index: number,
    input: number,
    how: number,
    seat: number,
    inbox: number,
    budgets: number,
    sends: readonly number[],
  ): void {
    const { participants, width, world } = this
    if (this.isWanted !== null && !this.isWanted(index + 1, input, how)) return
    this.makeRoom()
    const { successors, steps, count } = this
    const to = count * width
    for (let at = 0; at < width; at++) successors[to + at] = world[at]!
    successors[to + index] = seat
    successors[to + participants + index] = inbox
    successors[to + 2 * participants] = budgets
    const isRepeat = this.isQuiet && (input === REPEAT || input === CALL || input === PROPOSE)
    for (let at = 0; at < sends.length; at += 2) {
      const place = to + participants + sends[at]! - 1
      // Nobody is there to receive it. (Another check finds receivers that do not exist at all.)
      const isThere = sends[at]! > participants || this.menuOf(world[sends[at]! - 1]!).isUp
      if (!isThere) continue
      if (isRepeat && this.inboxes.has(successors[place]!, sends[at + 1]!)) continue
      successors[place] = this.inboxes.add(successors[place]!, sends[at + 1]!)
    }
    if (sends.length > 0 && this.isTooLong(index, to)) return
    steps[3 * count] = index + 1
    steps[3 * count + 1] = input
    steps[3 * count + 2] = how
    this.count++
  }

  /**
   * Whether a link gets longer than allowed. Messages sent at once fit an empty link, and a participant that
   * is down holds up nobody.
   */
  private isTooLong(index: number, to: number): boolean {
    const { participants, world, successors, inboxes } = this
    // A step that has broken a property must be there to be reported.
    if (this.lag === 0 || this.isLagFree || this.findings.violation !== null) return false
    let isTooLong = false
    for (let receiver = 0; receiver < participants; receiver++) {
      if (receiver === index || !this.menuOf(world[receiver]!).isUp) continue
      const before = inboxes.inboxes[world[participants + receiver]!]!.queues[index + 1]!.length
      const after = inboxes.inboxes[successors[to + participants + receiver]!]!.queues[index + 1]!.length
      if (before === 0 || after <= before || after <= this.lag) continue
      this.blockers |= 1 << receiver
      isTooLong = true
    }
    return isTooLong
  }

  private makeRoom(): void {
    if ((this.count + 1) * this.width > this.successors.length) this.successors = doubled(this.successors)
    if ((this.count + 1) * 3 > this.steps.length) this.steps = doubled(this.steps)
  }

  // ---------------------------------------------------------------- conditions

  private findQuiet(): boolean {
    for (let index = 0; index < this.participants; index++) {
      const { heads, strays } = this.inboxes.inboxes[this.world[this.participants + index]!]!
      const isEmpty = heads.length === 0 && (this.areLinksOrdered || strays.length === 0)
      if (!isEmpty && this.menuOf(this.world[index]!).isUp) return false
    }
    return true
  }

  private isRepeatOfUse(): boolean {
    const budgets = this.world[2 * this.participants]!
    if (this.budgets.hasSpent(budgets, 'losses') || this.budgets.hasSpent(budgets, 'crashes')) return true
    if (this.budgets.hasSpent(budgets, 'stragglers')) return true
    for (let index = 0; index < this.participants; index++) {
      const { user, flushes } = this.menuOf(this.world[index]!)
      if (flushes.length > 0) return false
      if (user.some(({ budget }) => budget === -1 || this.budgets.spend(budgets, budget) !== -1)) return false
    }
    return true
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * numbers.length)
  larger.set(numbers)
  return larger
}
