/** `npm run sim -- --birth`: the birth of locks, with ledgers and real cores, from seeds. */
import { parseArgs } from 'node:util'
import { type RunResult, runSeed } from './run.ts'

const HELP = `npm run sim -- --birth [options]
  --seeds NUMBER       runs (1000)
  --first-seed NUMBER  (1)
  --stop-at-first      end with the first violation
  --replay SEED        run one seed and print all that happens
  --json               one JSON object: {runs, steps, violations, counts}
`

export function main(words: readonly string[]): number {
  const { values } = parseArgs({
    args: words.filter(word => word !== '--birth'),
    options: {
      seeds: { type: 'string', default: '1000' },
      'first-seed': { type: 'string', default: '1' },
      'stop-at-first': { type: 'boolean', default: false },
      replay: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  if (values.replay !== undefined) {
    const { violation, steps } = runSeed(Number(values.replay), line => console.log(line))
    console.log(
      violation === null
        ? `no violation, ${steps} steps`
        : `VIOLATION of ${violation.rule}: ${violation.message}`,
    )
    return violation === null ? 0 : 1
  }
  return simulate(Number(values['first-seed']), Number(values.seeds), values['stop-at-first'], values.json)
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
