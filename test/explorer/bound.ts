/**
 * How far a search goes: what users do, how messages travel, and how much goes wrong. Everything within the
 * bound is explored.
 */

export interface Bound {
  readonly participants: number
  /** How many of them, the last ones, the lock is not born with. */
  readonly newcomers: number
  /** The participants that have a user each. */
  readonly users: readonly number[]
  /** Those of them whose user is a reader, if the protocol has readers. */
  readonly readers: readonly number[]
  /** How often each user tries. */
  readonly tries: number
  /** Operations of all users together. */
  readonly operations: number
  /** How often an operator asks for all participants as members but the last that the lock was born with. */
  readonly changes: number
  /**
   * `link`: messages from one participant to another arrive in the order in which they were sent. `none`: in
   * any order.
   */
  readonly order: 'link' | 'none'
  /** How many messages may wait on one link before a step that sends more has to wait, too; 0: any number. */
  readonly lag: number
  /**
   * In how many rounds of ballots of one epoch a proposer tries again for free; after that each try costs a
   * hurry.
   */
  readonly ballots: number
  /**
   * Crashes, each between any two steps or inside any step. The participant may come back at any time after.
   */
  readonly crashes: number
  /**
   * Suspicions that nobody else asked for. A participant that is asked whether it hears the owner (pre-vote)
   * may then suspect it for free, but the detector of each participant suspects at most this often in all.
   */
  readonly suspicions: number
  readonly losses: number
  /** Messages that are delivered and stay in flight, to be delivered once more at any later time. */
  readonly duplicates: number
  /** Messages that leave the order of their link and arrive at any later time, or never. */
  readonly stragglers: number
  /** Timers that fire though messages are still in flight: early repeats, duelling proposers, heartbeats. */
  readonly hurries: number
  /** Grants that expire. */
  readonly expiries: number
  /** Users that give up waiting. */
  readonly withdrawals: number
  /** How many of all these faults may come together in one run. */
  readonly faults: number
}

/** The bound that is searched by default. */
export const DEFAULT_BOUND: Bound = {
  participants: 3,
  newcomers: 0,
  users: [1, 2],
  readers: [],
  tries: 2,
  operations: 2,
  changes: 0,
  order: 'link',
  lag: 0,
  ballots: 3,
  crashes: 1,
  suspicions: 1,
  losses: 1,
  duplicates: 1,
  stragglers: 0,
  hurries: 0,
  expiries: 0,
  withdrawals: 0,
  faults: 4,
}

/** What goes wrong. */
export const FAULTS = [
  'crashes',
  'suspicions',
  'losses',
  'duplicates',
  'stragglers',
  'hurries',
  'expiries',
  'withdrawals',
] as const

export type FaultName = (typeof FAULTS)[number]
export type BudgetName = FaultName | 'operations' | 'changes'

const BUDGETS: readonly BudgetName[] = [...FAULTS, 'operations', 'changes']

/** Budgets by number, so that the search need not look names up. */
export const budgetOf = (name: BudgetName): number => BUDGETS.indexOf(name)

const FIRST_DOUBT = BUDGETS.length

/** What is left of a bound's budgets, numbered, so that a world carries one number for all of them. */
export class Budgets {
  readonly initial: number
  private readonly left: (readonly number[])[] = []
  private readonly numbers = new Map<string, number>()
  /**
   * By number and budget: the number after spending one of it, -1 if that is not possible, undefined if not
   * known yet.
   */
  private readonly spent: number[][] = []
  private readonly faults: number[] = []
  private readonly bound: Bound

  constructor(bound: Bound) {
    this.bound = bound
    const doubts = new Array<number>(bound.participants).fill(bound.suspicions)
    this.initial = this.number([...BUDGETS.map(name => bound[name]), ...doubts])
  }

  spend(budgets: number, budget: number): number {
    return this.spent[budgets]![budget] ?? this.take(budgets, budget)
  }

  /** One suspicion of this participant's own detector. */
  spendDoubt(budgets: number, participant: number): number {
    return this.spend(budgets, FIRST_DOUBT + participant - 1)
  }

  /** How much has gone wrong. */
  faultsOf(budgets: number): number {
    return this.faults[budgets]!
  }

  hasSpent(budgets: number, name: BudgetName): boolean {
    return this.left[budgets]![budgetOf(name)]! < this.bound[name]
  }

  private take(budgets: number, budget: number): number {
    const left = [...this.left[budgets]!]
    left[budget]!--
    const isFault = budget < FAULTS.length
    const isOver = left[budget]! < 0 || (isFault && this.faults[budgets]! >= this.bound.faults)
    const after = isOver ? -1 : this.number(left)
    this.spent[budgets]![budget] = after
    return after
  }

  private number(left: readonly number[]): number {
    const key = left.join()
    const known = this.numbers.get(key)
    if (known !== undefined) return known
    const number = this.left.length
    this.numbers.set(key, number)
    this.left.push(left)
    this.spent.push([])
    this.faults.push(FAULTS.reduce((sum, name, index) => sum + this.bound[name] - left[index]!, 0))
    return number
  }
}
