/** `npm run profile`: see options below, and profile.ts for what is done with the samples. */
import { parseOptions, UsageError } from '../../cli/arguments.ts'
import { integerOf } from '../../cli/values.ts'
import { note, say } from '../../test/print.ts'
import { optionsOrExit } from '../../test/tools/options-or-exit.ts'
import { CASES, type CaseName } from '../case.ts'
import { profileOf } from './measure.ts'
import { type FunctionTime, timesOf } from './profile.ts'

const HELP = `npm run profile -- [options]

Shows where the processor time of one kind of work goes: wme-2 with three participants, the router and V8's
profiler in one process; the profiler slows everything down, so compare shares and not times.

  --case "one operation"   one of: ${CASES.join('; ')}
  --repeats 2000           how often
  --plain                  the plain Durable Object of the benchmark instead
  --top 40                 how many functions are shown
  --json                   the last line is {case, repeats, millisecondsEach, functions:
                           [{name, self, total}]}, in microseconds for one repeat
  --help                   print this
`

const OPTIONS = {
  case: { type: 'string' },
  repeats: { type: 'string' },
  plain: { type: 'boolean' },
  top: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

/** In microseconds. More samples than this slow the service down more than they tell. */
const SAMPLE_EVERY = 1_000

const options = optionsOrExit('profile', () => {
  const { values } = parseOptions(process.argv.slice(2), OPTIONS)
  return {
    name: caseNamed(values.case ?? 'one operation'),
    repeats: integerOf('--repeats', values.repeats ?? '2000', 1),
    top: integerOf('--top', values.top ?? '40', 1),
    plain: values.plain,
    json: values.json,
    help: values.help,
  }
})

function caseNamed(name: string): CaseName {
  const found = CASES.find(known => known === name)
  if (found === undefined) throw new UsageError(`--case: there is no ${name}; cases are ${CASES.join('; ')}`)
  return found
}

if (options.help) {
  say(HELP)
  process.exit(0)
}
const { profile, tookMs } = await profileOf(options.name, {
  plain: options.plain ?? false,
  repeats: options.repeats,
  everyMicroseconds: SAMPLE_EVERY,
})
const functions = timesOf(profile, options.repeats)
const millisecondsEach = Math.round((1_000 * tookMs) / options.repeats) / 1_000
const print = options.json ? note : say
print(`${options.name}: ${millisecondsEach} ms each, with the profiler\n`)
print(tableOf('in the function itself', by('self')))
print(tableOf('with everything that it calls', by('total')))
if (options.json)
  say(
    `${JSON.stringify({ case: options.name, repeats: options.repeats, millisecondsEach, functions: by('self') })}\n`,
  )

function by(what: 'self' | 'total'): FunctionTime[] {
  return functions.toSorted((one, other) => other[what] - one[what]).slice(0, options.top)
}

function tableOf(title: string, rows: readonly FunctionTime[]): string {
  const lines = rows.map(
    ({ name, self, total }) => `${self.toFixed(1).padStart(9)} ${total.toFixed(1).padStart(9)}  ${name}`,
  )
  return `\nmicroseconds ${title}\n     self     total\n${lines.join('\n')}\n`
}
