/** `npm run sim -- --birth`: the birth of locks, with ledgers and real cores, from seeds. */
import { parseOptions } from '../../cli/arguments.ts'
import { integerOf, optionalInteger } from '../../cli/values.ts'
import { optionsOrExit } from '../tools/options-or-exit.ts'
import { type RunResult, runSeed } from './run.ts'

const HELP = `npm run sim -- --birth [options]
  --seeds NUMBER       runs (1000)
  --first-seed NUMBER  (1)
  --stop-at-first      end with the first violation
  --replay SEED        run one seed and print all that happens
  --json               one JSON object: {runs, steps, violations, counts}
`

const OPTIONS = {
  birth: { type: 'boolean' },
  seeds: { type: 'string' },
  'first-seed': { type: 'string' },
  'stop-at-first': { type: 'boolean' },
  replay: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

export function main(words: readonly string[]): number {
  const options = optionsOrExit('sim', () => read(words))
  if (options.help) {
    console.log(HELP)
    return 0
  }
  if (options.replay !== undefined) {
    const { violation, steps } = runSeed(options.replay, line => console.log(line))
    console.log(
      violation === null
        ? `no violation, ${steps} steps`
        : `VIOLATION of ${violation.rule}: ${violation.message}`,
    )
    return violation === null ? 0 : 1
  }
  return simulate(options.first, options.seeds, options.stopAtFirst, options.json)
}

function read(words: readonly string[]) {
  const { values } = parseOptions(words, OPTIONS)
  return {
    seeds: integerOf('--seeds', values.seeds ?? '1000', 1),
    first: integerOf('--first-seed', values['first-seed'] ?? '1'),
    replay: optionalInteger('--replay', values.replay),
    stopAtFirst: values['stop-at-first'],
    json: values.json,
    help: values.help,
  }
}

function simulate(first: number, seeds: number, stopAtFirst: boolean, isJson: boolean): number {
  const counts: { [name: string]: number } = {}
  const failures: RunResult[] = []
  let [runs, steps] = [0, 0]
  for (let seed = first; seed < first + seeds; seed++) {
    const result = runSeed(seed)
    runs++
    steps += result.steps
    for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count
    if (result.violation === null) continue
    failures.push(result)
    const { rule, message } = result.violation
    console.error(`seed ${seed}: ${rule}: ${message}\n  npm run sim -- --birth --replay ${seed}`)
    if (stopAtFirst) break
  }
  const summary = { runs, steps, violations: failures.length, counts }
  if (isJson) console.log(JSON.stringify(summary))
  else {
    console.log(`${runs} births, ${steps} steps, ${failures.length} violations`)
    console.log(
      Object.entries(counts)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
    )
  }
  return failures.length === 0 ? 0 : 1
}
