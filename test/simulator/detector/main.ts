/**
 * `npm run sim -- --detector`: how often the failure detector is wrong in an hour in which nobody fails, and
 * how long it takes when somebody does, by place and rule. The times are virtual.
 */
import { parseOptions } from '../../../cli/arguments.ts'
import { integerOf } from '../../../cli/values.ts'
import { protocolNamed } from '../../../shared/protocols/all.ts'
import { DEFAULT_TIMING, type Timing } from '../../../shared/protocols/protocol.ts'
import { note, say } from '../../print.ts'
import { optionsOrExit } from '../../tools/options-or-exit.ts'
import { Hour, type HourCounts } from './hour.ts'
import { PLACES, type Place } from './places.ts'

const HELP = `usage: npm run sim -- --detector [options]

Prints how often participants are suspected wrongly in an hour of virtual time, and how long the others wait
when the process of the holder freezes: if one user waits elsewhere already, and if it asks only then, at a
participant that never had the lock. With the time-out that adapts, and with a fixed one.

  --hours <number>     default 1
  --freezes <number>   how many, for the median (default 31)
  --first-seed <seed>  default 1
  --json               the last line is [{protocol, place, rule, wrongSuspicionsPerHour, ...}]
  --help               print this
`

const OPTIONS = {
  detector: { type: 'boolean' },
  hours: { type: 'string' },
  freezes: { type: 'string' },
  'first-seed': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const PROTOCOLS = ['wme-1', 'wme-2', 'wme-consensus'] as const
const HOUR_MS = 3_600_000
/** How long all is well before the holder freezes. */
const WARM_MS = 20_000

const RULES: readonly { readonly name: string; readonly timing: Partial<Timing> }[] = [
  { name: 'fixed', timing: { timeoutMinMs: DEFAULT_TIMING.timeoutMs } },
  { name: 'adaptive', timing: {} },
]

export function main(words: readonly string[]): number {
  const options = optionsOrExit('sim', () => read(words))
  if (options.help) {
    say(HELP)
    return 0
  }
  const print = (line: string) => (options.json ? note : say)(`${line}\n`)
  print(
    'protocol       place                        time-out  wrong/h  ejections/h  pings/h' +
      '  freeze → grant, ms    if asked for then',
  )
  const rows = PROTOCOLS.flatMap(protocol =>
    PLACES.flatMap(place =>
      RULES.map(({ name, timing }) => {
        const row = { protocol, place: place.name, rule: name, ...measure(protocol, place, timing, options) }
        print(describe(row))
        return row
      }),
    ),
  )
  if (options.json) say(`${JSON.stringify(rows)}\n`)
  return 0
}

function read(words: readonly string[]) {
  const { values } = parseOptions(words, OPTIONS)
  return {
    hours: integerOf('--hours', values.hours ?? '1', 1),
    freezes: integerOf('--freezes', values.freezes ?? '31', 1),
    seed: integerOf('--first-seed', values['first-seed'] ?? '1'),
    json: values.json,
    help: values.help,
  }
}

function measure(
  protocol: (typeof PROTOCOLS)[number],
  place: Place,
  timing: Partial<Timing>,
  { hours, freezes, seed }: ReturnType<typeof read>,
) {
  const setting = { protocol: protocolNamed(protocol), place, timing }
  const hour = new Hour({ ...setting, seed, users: [1, 2, 3] })
  hour.runFor(hours * HOUR_MS)
  const perHour = (count: keyof HourCounts) => Math.round(hour.counts[count] / hours)
  const timesOf = (users: readonly number[], asksThen: number | null) =>
    Array.from({ length: freezes }, (_, index) => {
      const run = new Hour({ ...setting, seed: seed + index, users })
      run.runFor(WARM_MS)
      return Math.round(run.freezeHolder(asksThen))
    }).sort((one, other) => one - other)
  const times = timesOf([1, 2], null)
  const lateTimes = timesOf([1], 2)
  return {
    wrongSuspicionsPerHour: perHour('wrongSuspicions'),
    ejectionsPerHour: perHour('ejections'),
    pingsPerHour: perHour('pings'),
    medianFreezeMs: times[Math.floor(times.length / 2)]!,
    longestFreezeMs: times.at(-1)!,
    medianLateMs: lateTimes[Math.floor(lateTimes.length / 2)]!,
    longestLateMs: lateTimes.at(-1)!,
  }
}

function describe(
  row: ReturnType<typeof measure> & { protocol: string; place: string; rule: string },
): string {
  const { protocol, place, rule, wrongSuspicionsPerHour, ejectionsPerHour, pingsPerHour } = row
  const counts = [
    String(wrongSuspicionsPerHour).padStart(7),
    String(ejectionsPerHour).padStart(11),
    String(pingsPerHour).padStart(7),
  ]
  const freeze = `${row.medianFreezeMs} (longest ${row.longestFreezeMs})`.padEnd(20)
  const late = `${row.medianLateMs} (longest ${row.longestLateMs})`
  return `${protocol.padEnd(14)} ${place.padEnd(28)} ${rule.padEnd(8)}  ${counts.join('  ')}  ${freeze}  ${late}`
}
