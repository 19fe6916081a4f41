/** The options of `npm run bench`. */
import { parseOptions, UsageError } from '../cli/arguments.ts'
import { integerOf, listOf } from '../cli/values.ts'

export const PARTS = [
  'speed',
  'protocols',
  'processes',
  'disk',
  'rows',
  'profile',
  'layers',
  'failover',
  'growth',
] as const
export type Part = (typeof PARTS)[number]
/** It takes longer than all others together. */
const LONG: readonly Part[] = ['growth']

const OPTIONS = {
  only: { type: 'string' },
  growth: { type: 'boolean' },
  peers: { type: 'boolean' },
  rounds: { type: 'string' },
  repeats: { type: 'string' },
  before: { type: 'string' },
  write: { type: 'boolean' },
  render: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

export const HELP = `npm run bench -- [options]

Measures Baton beside a plain Durable Object on raw workerd, and prints what was found beside what we aim at.
It takes some minutes on a quiet machine, and some more with --growth. Parts:

  speed       times, processor time, memory and requests: wme-2 with three participants in one process
  protocols   the basic times of wme-1 and wme-2 with three and five participants
  processes   the same as speed with one process for each participant
  disk        calls to the disk, as strace counts them; not counted where there is none
  rows        rows, requests, alarms and prices of one use of an old lock, as npm run count counts them
  profile     which part of the code the processor's time goes to
  layers      what stands between the plain object and Baton, one layer after the other
  failover    from the loss of the owner to the next grant: killed, and frozen
  growth      10 to 50,000 keys, 20,000 operations, 1 to 13 participants, 1,000 locks

  --only speed,disk   only these parts
  --growth            growth too, which takes long
  --peers             etcd and ZooKeeper too, three servers of each, if they are installed
  --rounds 12         rounds of speed, protocols, processes and layers
  --repeats 20        how often each case is repeated in a round
  --before 13000      operations that the lock of rows has had before: more than it remembers
  --write             writes docs/benchmark.json, .md and .svg, and the figures in the README; with --only,
                      only these parts are replaced
  --render            measures nothing: writes all of that again from docs/benchmark.json
  --json              the last line of the output is JSON, with "aims"
`

export interface BenchOptions {
  readonly parts: ReadonlySet<Part>
  readonly isPartial: boolean
  readonly peers: boolean
  readonly rounds: number
  readonly repeats: number
  readonly before: number
  readonly write: boolean
  readonly render: boolean
  readonly json: boolean
  readonly help: boolean
}

export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseOptions(args, OPTIONS)
  const { only, growth, peers, write, render, json, help } = values
  return {
    parts: new Set(only === undefined ? PARTS.filter(part => growth || !LONG.includes(part)) : partsOf(only)),
    isPartial: only !== undefined,
    peers,
    rounds: integerOf('--rounds', values.rounds ?? '12', 1),
    repeats: integerOf('--repeats', values.repeats ?? '20', 1),
    before: integerOf('--before', values.before ?? '13000'),
    write,
    render,
    json,
    help,
  }
}

function partsOf(text: string): Part[] {
  return listOf(text).map(name => {
    const part = PARTS.find(part => part === name)
    if (part === undefined) throw new UsageError(`--only: there is no ${name}; parts are ${PARTS.join(', ')}`)
    return part
  })
}
