/** What Ricart and Agrawala (1981) and Maekawa (1985) say about the number of messages, row by row. */
import { type Row, row } from './row.ts'
import type { VariantName } from './subjects.ts'

/**
 * Section 4: a REQUEST to and a REPLY from each other node; a round trip; one more delay for a node that
 * waits (5.3).
 */
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

export const RICART_AGRAWALA: readonly Row[] = [
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

/**
 * Sections 1 and 4: REQUEST, LOCKED and RELEASE for each other member of the set; at most five with FAILED,
 * INQUIRE, RELINQUISH.
 */
export const MAEKAWA: readonly Row[] = [
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
