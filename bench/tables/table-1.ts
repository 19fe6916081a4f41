/**
 * Table 1 of Romano and Rodrigues, row by row. It has only orders of magnitude; the exact numbers follow from
 * the pseudo-code, in which a broadcast is a message to each of the N - 1 others, and what a process says to
 * itself is none:
 *
 *   enter       REQUEST to all, GRANTED to all (Figure 1): 2(N-1)
 *   exit        GRANTED to all if somebody waits: 0 or N-1
 *   operation   wme-1: INVOKE to all, and each of the N processes, the owner too, broadcasts its ACK (Figure
 *               1): (N-1) + N(N-1) = N² - 1; wme-2: INVOKE to all, ACK to the owner, DOINVOKE to all (Figure
 *               4): 3(N-1)
 *   [16]+[11]   a broadcast of what is proposed, then a consensus of two steps: a proposal to all, and every
 *               process tells all that it has accepted: (N-1) + (N-1) + N(N-1) = (N-1)(N+2), to enter, to
 *               leave and for an operation
 *   [16]+[9]    the same broadcast, then proposal, acknowledgement and decision: 4(N-1)
 *
 * A cycle is to enter, to do one operation if there is something to operate on, and to leave.
 */
import { type Row, row } from './row.ts'

const HERE = { requester: 1 }
const CONFIRMED = { note: 'confirmed' } as const

/** Entering and leaving is the same in both. */
function wme(variant: 'wme-1' | 'wme-2'): Row[] {
  const add = row.bind(null, variant)
  return [
    add('enter, token here: steps', 'enter', 'steps', '0', '0', HERE),
    add('… messages before `crit`', 'enter', 'before', '0', '0', HERE),
    add('… messages in all', 'enter', 'messages', '0', '0', HERE),
    add('enter, token elsewhere and free: steps', 'enter', 'steps', '2', '2'),
    add('… messages before `crit`', 'enter', 'before', '2(N - 1)', '2(N - 1)'),
    add('… messages in all', 'enter', 'messages', '2(N - 1)', '4N - 5', CONFIRMED),
    add('enter, token in use: steps after the exit', 'enterHeld', 'steps', '1', '1'),
    add('… messages in all', 'enterHeld', 'messages', '2(N - 1)', '4N - 5', CONFIRMED),
    add(
      'everybody at once: messages of each',
      'everybodyAtOnce',
      'messages',
      '2(N - 1)²/N',
      '(N - 1)(4N - 5)/N',
      CONFIRMED,
    ),
    add('leave, nobody waits: steps', 'leave', 'steps', '0', '0'),
    add('… messages', 'leave', 'messages', '0', '0'),
    add('leave, another waits: steps', 'leaveWaitedFor', 'steps', '0', '0'),
    add('… messages in all', 'leaveWaitedFor', 'messages', 'N - 1', '3N - 4', CONFIRMED),
  ]
}

export const WME_1: readonly Row[] = [
  ...wme('wme-1'),
  row('wme-1', 'operation: steps', 'operation', 'steps', '2', '2'),
  row('wme-1', '… steps until all replicas have it', 'operation', 'applied', '2', '2'),
  row('wme-1', '… messages', 'operation', 'messages', 'N² - 1', 'N(N - 1)'),
  row(
    'wme-1',
    'operations in a row: steps until all replicas have it',
    'operationsInARow',
    'applied',
    '2',
    '2',
  ),
  row('wme-1', '… messages of each', 'operationsInARow', 'messages', 'N² - 1', 'N(N - 1)'),
  row('wme-1', 'cycle, token here: messages', 'cyclesInARow', 'messages', 'N² - 1', 'N(N - 1)'),
  row(
    'wme-1',
    'cycle, token elsewhere: messages',
    'cycleElsewhere',
    'messages',
    '(N - 1)(N + 3)',
    'N(N - 1) + 4N - 5',
    CONFIRMED,
  ),
]

export const WME_2: readonly Row[] = [
  ...wme('wme-2'),
  row('wme-2', 'operation: steps', 'operation', 'steps', '3', '2'),
  row('wme-2', '… steps until all replicas have it', 'operation', 'applied', '3', '3', { note: 'flushed' }),
  row('wme-2', '… messages', 'operation', 'messages', '3(N - 1)', '3(N - 1)'),
  row(
    'wme-2',
    'operations in a row: steps until all replicas have it',
    'operationsInARow',
    'applied',
    '3',
    '3',
  ),
  row('wme-2', '… messages of each', 'operationsInARow', 'messages', '3(N - 1)', '2(N - 1)'),
  row('wme-2', 'cycle, token here: messages', 'cycleAlone', 'messages', '3(N - 1)', '3(N - 1)'),
  row(
    'wme-2',
    'cycles in a row, token here: messages of each',
    'cyclesInARow',
    'messages',
    '3(N - 1)',
    '2(N - 1)',
  ),
  row(
    'wme-2',
    'cycle, token elsewhere: messages',
    'cycleElsewhere',
    'messages',
    '5(N - 1)',
    '7N - 8',
    CONFIRMED,
  ),
]

/** The counts depend on how many make a majority, and on how many operations there are in `flushMs`. */
export const MAJORITY_FIRST: readonly Row[] = [
  row(
    'majority first',
    'operations in a row: messages of each',
    'operationsInARow',
    'messages',
    '3(N - 1)',
    null,
  ),
  row('majority first', 'cycle, token here: messages', 'cycleAlone', 'messages', '3(N - 1)', null),
  row(
    'majority first',
    'cycles in a row, token here: messages of each',
    'cyclesInARow',
    'messages',
    '3(N - 1)',
    null,
  ),
  row(
    'majority first',
    'cycle, token elsewhere: messages',
    'cycleElsewhere',
    'messages',
    '5(N - 1)',
    null,
    CONFIRMED,
  ),
]

type Form = 'latency-optimal' | 'message-optimal'

interface FormCosts {
  readonly paperSteps: string
  readonly paperMessages: string
  readonly steps: string
  /**
   * With three participants the proposer and the requester are a majority: the requester knows when the
   * proposal comes.
   */
  readonly stepsOfThree: string
  readonly messages: string
  readonly coordinatorMessages: string
  readonly coordinatorApplied: string
  readonly everybody: string
}

/** For a formula that is a product. */
function times(factor: number, product: string): string {
  const [, digits, rest] = /^(\d*)(.*)$/.exec(product)!
  return `${factor * Number(digits || 1)}${rest}`
}

/** Entering, leaving and operating are the same: one instance each. The coordinator is participant 1. */
function consensus(form: Form, costs: FormCosts): Row[] {
  const { paperSteps, paperMessages, steps, stepsOfThree, messages } = costs
  const add = row.bind(null, form)
  const three = { oursOfThree: stepsOfThree }
  const instances = [
    ['enter', 'enter'],
    ['leave', 'leave'],
    ['operation', 'operation'],
  ] as const
  return [
    ...instances.flatMap(([what, scenario]) => [
      add(`${what}: steps`, scenario, 'steps', paperSteps, steps, three),
      add('… messages', scenario, 'messages', paperMessages, messages),
      add(`${what}, at the coordinator: steps`, scenario, 'steps', paperSteps, '2', HERE),
      add('… messages', scenario, 'messages', paperMessages, costs.coordinatorMessages, HERE),
    ]),
    add('operation: steps until all replicas have it', 'operation', 'applied', paperSteps, steps),
    add('… at the coordinator', 'operation', 'applied', paperSteps, costs.coordinatorApplied, HERE),
    add(
      'everybody at once: messages of each',
      'everybodyAtOnce',
      'messages',
      times(2, paperMessages),
      costs.everybody,
    ),
    add('cycle: messages', 'cyclesInARow', 'messages', times(3, paperMessages), times(3, messages)),
    add(
      '… at the coordinator',
      'cyclesInARow',
      'messages',
      times(3, paperMessages),
      times(3, costs.coordinatorMessages),
      HERE,
    ),
  ]
}

export const LATENCY_OPTIMAL = consensus('latency-optimal', {
  paperSteps: '3',
  paperMessages: '(N - 1)(N + 2)',
  steps: '3',
  stepsOfThree: '2',
  messages: '(N - 1)(N + 1)',
  coordinatorMessages: 'N(N - 1)',
  coordinatorApplied: '2',
  everybody: '2(N - 1)(N² + N - 1)/N',
})

export const MESSAGE_OPTIMAL = consensus('message-optimal', {
  paperSteps: '4',
  paperMessages: '4(N - 1)',
  steps: '4',
  stepsOfThree: '4',
  messages: '4(N - 1)',
  coordinatorMessages: '3(N - 1)',
  coordinatorApplied: '3',
  everybody: '2(N - 1)(4N - 1)/N',
})
