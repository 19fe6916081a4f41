/** docs/tables.md. */
import { wrap } from '../wrap.ts'
import type { CycleCost, MeasuredCycle } from './cost.ts'
import { NOTES, type NoteName, type Row } from './row.ts'
import { SIZES, type VariantName } from './subjects.ts'
import type { Cell, MeasuredRow } from './table.ts'

const LETTERS = 'abcdefgh'
const noteNames = Object.keys(NOTES) as NoteName[]
const letterOf = (note: NoteName): string => LETTERS[noteNames.indexOf(note)]!

const TITLES: readonly (readonly [title: string, about: string, variants: readonly VariantName[]])[] = [
  [
    'wme-1',
    'Romano and Rodrigues, Figure 1 and Table 1: 0 or 2 steps to enter, 2 for an operation, O(N²) messages.',
    ['wme-1'],
  ],
  [
    'wme-2',
    'Figure 4 and Table 1: 3 steps for an operation, O(N) messages. Here an operation goes to all.',
    ['wme-2'],
  ],
  [
    'wme-2, majority first',
    'As it is unless a lock says `majorityFirst: false`: an operation goes to the quickest ⌊N/2⌋, and to the rest with others.',
    ['majority first'],
  ],
  [
    'wme-consensus, latency-optimal',
    'The earlier algorithm, [16]+[11] in Table 1: 3 steps and O(N²) messages for everything. The coordinator is ' +
      'participant 1.',
    ['latency-optimal'],
  ],
  [
    'wme-consensus, message-optimal',
    '[16]+[9] in Table 1: 4 steps and O(N) messages for everything.',
    ['message-optimal'],
  ],
  ['ricart-agrawala', 'Ricart and Agrawala, section 4: 2(N - 1) messages.', ['ricart-agrawala']],
  [
    'ricart-agrawala, implicitReply',
    'Section 6.1: between 1(N - 1) and 3(N - 1) messages. The steps are the time of a round trip, which must be known.',
    ['implicitReply'],
  ],
  [
    'ricart-agrawala, ring',
    'Section 6.3: N messages, one after the other. A ring that marks adds a REPLY for each node that defers.',
    ['ring: waiting', 'ring: marking'],
  ],
  [
    'ricart-agrawala, modulus, increment, readers',
    'Sections 6.4, 6.5 and 6.6: the messages are those of section 4. Readers do not wait for each other.',
    ['modulus', 'increment', 'readers'],
  ],
  [
    'maekawa',
    'Maekawa, sections 1 and 4: between 3(K - 1) and 5(K - 1) messages, where K is the size of the set that is used, and ' +
      'for *everybody at once* the mean size ([maekawa-sets.md](maekawa-sets.md)). After an exit it takes a RELEASE and a ' +
      'LOCKED, or only one of them if one of the two nodes is the common member.',
    ['maekawa'],
  ],
]

export function report(rows: readonly MeasuredRow[], cycles: readonly MeasuredCycle[]): string {
  const marks = rows.flatMap(({ cells }) => cells.map(({ mark }) => mark))
  const count = (mark: Cell['mark']): number => marks.filter(each => each === mark).length
  return [
    '# Steps, messages, requests, price',
    '',
    wrap(
      '`npm run tables -- --write` wrote this page; `npm run tables` prints it, and `--json` gives the numbers. A test ' +
        'checks that it is what the code does. [which-protocol.md](which-protocol.md) says what to choose.',
    ),
    '',
    wrap(
      'The shipped code was counted in nice runs: there are no faults, every message takes one delay, and a step of a ' +
        'participant takes no time. *Steps* are message delays until the user is told. *Messages* are counted until ' +
        'the lock is quiet again. *Everybody at once* means that all want in at the same time, and leave as soon as ' +
        'they are in, without an operation.',
    ),
    '',
    wrap(
      'Each cell shows what was counted and the paper’s number: `6 = 6` is equal, `6 < 8` is **better**, and `7 > 4` ' +
        'is **worse**, with the letter of the reason. The papers’ orders of magnitude are replaced by the exact ' +
        `counts that their pseudo-code gives (\`bench/tables/table-1.ts\` derives each). Of ${marks.length} cells ` +
        `${count('equal')} are equal, ${count('better')} better and ${count('worse')} worse.`,
    ),
    '',
    ...noteNames.map(note => wrap(`- **${letterOf(note)}** ${NOTES[note]}`, '  ')),
    '',
    ...TITLES.flatMap(([title, about, variants]) => [
      `## ${title}`,
      '',
      wrap(about),
      '',
      ...rowTable(
        rows.filter(({ variant }) => variants.includes(variant)),
        variants.length > 1,
      ),
      '',
    ]),
    ...costSections(cycles),
  ].join('\n')
}

// ---------------------------------------------------------------- side by side

function rowTable(rows: readonly MeasuredRow[], areSeveral: boolean): string[] {
  const header = ['', 'paper', 'this code', ...SIZES.map(size => `N = ${size}`)]
  const nameOf = (row: Row): string =>
    areSeveral && !row.what.startsWith('…') ? `${row.variant.replace('ring: ', '')}: ${row.what}` : row.what
  return markdownTable(
    header,
    rows.map(row => [nameOf(row), paperOf(row), oursOf(row), ...row.cells.map(cell => cellText(row, cell))]),
  )
}

const paperOf = ({ paper }: Row): string => (typeof paper === 'string' ? paper : paper.join(' to '))

function oursOf({ ours, oursOfThree, cells }: MeasuredRow): string {
  const waitedMs = Math.max(...cells.map(cell => cell.waitedMs))
  const wait = waitedMs > 0 ? ` + ${waitedMs} ms` : ''
  const three = oursOfThree !== undefined && oursOfThree !== ours ? `; ${oursOfThree} if N = 3` : ''
  return ours === null ? '' : `${ours}${wait}${three}`
}

const SIGNS = { equal: '=', better: '<', worse: '>' } as const

function cellText({ note }: Row, { measured, waitedMs, paper: [least, most], mark }: Cell): string {
  const wait = waitedMs > 0 ? ` + ${waitedMs} ms` : ''
  const range = least === most ? short(least) : `${short(least)} to ${short(most)}`
  const sign = least !== most && mark === 'equal' ? 'in' : SIGNS[mark]
  const reason = mark === 'worse' && note !== undefined ? ` ${letterOf(note)}` : ''
  return `${short(measured)}${wait} ${sign} ${range}${reason}`
}

const short = (value: number): string => String(Number(value.toFixed(1)))

// ---------------------------------------------------------------- cost

function costSections(cycles: readonly MeasuredCycle[]): string[] {
  const header = ['', ...SIZES.map(size => `N = ${size}`)]
  const tableOf = (text: (cost: CycleCost) => string): string[] =>
    markdownTable(
      header,
      cycles.map(({ title, costs }) => [title, ...costs.map(text)]),
    )
  return [
    '## A cycle',
    '',
    wrap(
      'A cycle is acquire, one operation where there is something to operate on, and release. `ricart-agrawala` and ' +
        '`maekawa` guard no state, so their cycles have no operation.',
    ),
    '',
    '![Messages of a cycle against the number of participants](messages.svg)',
    '',
    'Messages:',
    '',
    ...tableOf(({ messages }) => short(messages)),
    '',
    'Message delays until the release is answered:',
    '',
    ...tableOf(({ delays }) => short(delays)),
    '',
    wrap(
      'Requests (`fetch`) between objects. What a step sends to one peer is one request, and what the peer answers at ' +
        'once rides in the response:',
    ),
    '',
    ...tableOf(({ requests }) => short(requests)),
    '',
    wrap(
      'Rows written, on all participants together. A turn of a participant that changes anything writes one row of its ' +
        'journal. The checkpoints that fold the journal now and then are left out; they add less than a tenth. Left out ' +
        'as well is that the service lets what follows from the log wait for the next row, for 200 ms at most: ' +
        'that is one row less for each `transact` in a row:',
    ),
    '',
    ...tableOf(({ rows }) => short(rows)),
    '',
    wrap(
      'The price of a million cycles, at the rates of [deploy.md](deploy.md#what-that-costs) and as if nothing were ' +
        'included. A cycle is one `transact`, or `acquire` and release, with 125 ms in memory for each delay. ' +
        'Checkpoints, rows read and waking are left out. They add about $0.30 to a busy `transact` with three ' +
        'participants, and more to a lock that sleeps in between: see [deploy.md](deploy.md#what-a-lock-cycle-uses).',
    ),
    '',
    ...tableOf(({ dollars }) => `$${dollars.toFixed(2)}`),
    '',
  ]
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)]
}
