/**
 * What the papers say, row by row, and what this code does. Table 1 of the WME paper has only orders of magnitude; the exact numbers
 * follow from its pseudo-code, in which a broadcast is a message to each of the N - 1 others and what a process says to itself is none:
 *
 *   enter       REQUEST to all, GRANTED to all (Figure 1): 2(N-1)
 *   exit        GRANTED to all if somebody waits: 0 or N-1
 *   operation   wme-1: INVOKE to all, and each of the N processes, the owner too, broadcasts its ACK (Figure 1):
 *               (N-1) + N(N-1) = N² - 1
 *               wme-2: INVOKE to all, ACK to the owner, DOINVOKE to all (Figure 4): 3(N-1)
 *   [16]+[11]   a broadcast of what is proposed, then a consensus of two steps: a proposal to all, and everybody tells all that it has
 *               accepted: (N-1) + (N-1) + N(N-1) = (N-1)(N+2), to enter, to leave and for an operation
 *   [16]+[9]    the same broadcast, then proposal, acknowledgement and decision: 4(N-1)
 *
 * A cycle is to enter, one operation where there is something to operate on, and to leave.
 */
import { DEFAULT_TIMING } from '../../shared/protocols/protocol.ts'
import type { SCENARIOS } from './scenarios.ts'
import type { VariantName } from './subjects.ts'

export type Metric = 'steps' | 'applied' | 'before' | 'messages'
export type ScenarioName = keyof typeof SCENARIOS
export type NoteName = keyof typeof NOTES

export interface Row {
  readonly variant: VariantName
  readonly what: string
  readonly scenario: ScenarioName
  readonly metric: Metric
  readonly requester: number
  /** A formula, or the least and the most. */
  readonly paper: string | readonly [string, string]
  /** What is measured is exactly this; `null` where it depends on more than N and K. */
  readonly ours: string | null
  /** With three participants, if that differs. */
  readonly oursOfThree?: string
  /** Why it is worse than the paper's. */
  readonly note?: NoteName
  /** K is the mean size of all sets, not that of the requester's. */
  readonly isOfAll?: true
}

const { confirmMs, flushMs } = DEFAULT_TIMING

export const NOTES = {
  confirmed: `Messages that nobody waits for. A grant is an entry of the log: everybody acknowledges it to the new owner, who so learns that a
majority holds it (only then are local reads and effects outside of the lock safe), and to the one that gave it, who repeats it until then:
2(N - 2) + 1 messages. The paper confirms no grant, and its channels lose nothing.`,
  'confirmed-re-entry': `Messages that nobody waits for. Also a re-entry is confirmed by a majority: N - 1 entries and N - 1 acknowledgements. If an
operation comes within \`confirmMs\` = ${confirmMs} ms they ride on its messages, and the re-entry costs none: see the cycle. Re-entries
without an operation in that time travel together.`,
  flushed: `A DOINVOKE waits up to \`flushMs\` = ${flushMs} ms for the next entry to ride on, which saves N - 1 messages for each operation but the last.
The user is told without waiting for it, and one step earlier than in the paper.`,
} as const

const row = (
  variant: VariantName,
  what: string,
  scenario: ScenarioName,
  metric: Metric,
  paper: Row['paper'],
  ours: string | null,
  more: Partial<Row> = {},
): Row => ({ variant, what, scenario, metric, requester: 2, paper, ours, ...more })

const HERE = { requester: 1 }
const CONFIRMED = { note: 'confirmed' } as const

/** Entering and leaving is the same in both. */
function wme(variant: 'wme-1' | 'wme-2'): Row[] {
  const add = row.bind(null, variant)
  return [
    add('enter, token here: steps', 'enter', 'steps', '0', '0', HERE),
    add('… messages before `crit`', 'enter', 'before', '0', '0', HERE),
    add('… messages in all', 'enter', 'messages', '0', '2(N - 1)', { ...HERE, note: 'confirmed-re-entry' }),
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

const WME_1: readonly Row[] = [
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

const WME_2: readonly Row[] = [
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

type Form = 'latency-optimal' | 'message-optimal'

interface FormCosts {
  readonly paperSteps: string
  readonly paperMessages: string
  readonly steps: string
  /** With three participants the proposer and the requester are a majority: the requester knows when the proposal comes. */
  readonly stepsOfThree: string
  readonly messages: string
  readonly coordinatorMessages: string
  readonly coordinatorApplied: string
  readonly everybody: string
}

/** Of a formula that is a product. */
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

const LATENCY_OPTIMAL = consensus('latency-optimal', {
  paperSteps: '3',
  paperMessages: '(N - 1)(N + 2)',
  steps: '3',
  stepsOfThree: '2',
  messages: '(N - 1)(N + 1)',
  coordinatorMessages: 'N(N - 1)',
  coordinatorApplied: '2',
  everybody: '2(N - 1)(N² + N - 1)/N',
})

const MESSAGE_OPTIMAL = consensus('message-optimal', {
  paperSteps: '4',
  paperMessages: '4(N - 1)',
  steps: '4',
  stepsOfThree: '4',
  messages: '4(N - 1)',
  coordinatorMessages: '3(N - 1)',
  coordinatorApplied: '3',
  everybody: '2(N - 1)(4N - 1)/N',
})

/** Section 4: a REQUEST to and a REPLY from each other node; a round trip; one more delay for who waits (5.3). */
function ricartAgrawala(variant: VariantName, steps = '2', alone = '2(N - 1)'): Row[] {
  return [
    row(variant, 'enter: steps', 'enter', 'steps', steps, steps),
    row(variant, '… messages', 'enter', 'messages', alone, alone),
    row(variant, 'leave: steps', 'leave', 'steps', '0', '0'),
    row(variant, 'cycle: messages', 'cyclesInARow', 'messages', alone, alone),
  ]
}

const afterExit = (variant: VariantName): Row =>
  row(variant, 'enter, in use: steps after the exit', 'enterHeld', 'steps', '1', '1')

const everybody = (variant: VariantName, paper: Row['paper'], ours: string): Row =>
  row(variant, 'everybody at once: messages of each', 'everybodyAtOnce', 'messages', paper, ours)

const RICART_AGRAWALA: readonly Row[] = [
  ...ricartAgrawala('ricart-agrawala'),
  afterExit('ricart-agrawala'),
  everybody('ricart-agrawala', '2(N - 1)', '2(N - 1)'),
  row(
    'ricart-agrawala',
    '6.2, on a medium with broadcast: messages',
    'enterByBroadcast',
    'messages',
    'N',
    'N',
  ),
  ...ricartAgrawala('implicitReply', '2', 'N - 1'),
  afterExit('implicitReply'),
  everybody('implicitReply', ['N - 1', '3(N - 1)'], '2(N - 1)'),
  row(
    'implicitReply',
    '… of the one that all others defer',
    'lastOfEverybody',
    'messages',
    '3(N - 1)',
    '3(N - 1)',
  ),
  row('implicitReply', '6.2, on a medium with broadcast: messages', 'enterByBroadcast', 'messages', '1', '1'),
  ...ricartAgrawala('ring: waiting', 'N', 'N'),
  everybody('ring: waiting', 'N', 'N'),
  ...ricartAgrawala('ring: marking', 'N', 'N'),
  afterExit('ring: marking'),
  everybody('ring: marking', ['N', '2N - 1'], 'N + (N - 1)/2'),
  ...ricartAgrawala('modulus'),
  everybody('modulus', '2(N - 1)', '2(N - 1)'),
  ...ricartAgrawala('increment'),
  everybody('increment', '2(N - 1)', '2(N - 1)'),
  ...ricartAgrawala('readers'),
  row('readers', 'enter, another reader inside: steps', 'enterBesides', 'steps', '2', '2'),
  everybody('readers', '2(N - 1)', '2(N - 1)'),
]

/** Sections 1 and 4: REQUEST, LOCKED and RELEASE for each other member of the set; at most five with FAILED, INQUIRE, RELINQUISH. */
const MAEKAWA: readonly Row[] = [
  row('maekawa', 'enter: steps', 'enter', 'steps', '2', '2'),
  row('maekawa', '… messages', 'enter', 'messages', '2(K - 1)', '2(K - 1)'),
  row('maekawa', 'enter, in use: steps after the exit', 'enterHeld', 'steps', ['1', '2'], null),
  row('maekawa', 'leave: steps', 'leave', 'steps', '0', '0'),
  row('maekawa', '… messages', 'leave', 'messages', 'K - 1', 'K - 1'),
  row('maekawa', 'cycle: messages', 'cyclesInARow', 'messages', '3(K - 1)', '3(K - 1)'),
  row(
    'maekawa',
    'everybody at once: messages of each',
    'everybodyAtOnce',
    'messages',
    ['3(K - 1)', '5(K - 1)'],
    null,
    {
      isOfAll: true,
    },
  ),
]

export const ROWS: readonly Row[] = [
  ...WME_1,
  ...WME_2,
  ...LATENCY_OPTIMAL,
  ...MESSAGE_OPTIMAL,
  ...RICART_AGRAWALA,
  ...MAEKAWA,
]
