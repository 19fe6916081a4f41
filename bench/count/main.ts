/** `npm run count`: what one use of an old lock costs, in rows, requests, alarms and dollars. */
import { parseOptions } from '../../cli/arguments.ts'
import { integerOf } from '../../cli/values.ts'
import { note, say } from '../../test/print.ts'
import { optionsOrExit } from '../../test/tools/options-or-exit.ts'
import { countOld } from './count.ts'
import { USES } from './counted-lock.ts'
import { countReport } from './report.ts'

const OPTIONS = {
  before: { type: 'string' },
  number: { type: 'string' },
  wakings: { type: 'string' },
  'events-kept': { type: 'string' },
  'ask-all': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const HELP = `npm run count -- [options]

Counts on the real runtime what one use of a lock with three participants costs: a transact, an operation, a
cycle (acquire and release) and three calls (acquire, operation, release). Busy means one after the other;
woken means that the lock was idle before, so that all participants have to be brought back into memory.

  --before 13000        operations that the lock has had before: more than it remembers
  --number 500          uses of each kind, busy
  --wakings 3           uses of each kind, woken
  --events-kept 10000   steps of history that each participant keeps
  --ask-all             an operation goes to all at once (majorityFirst: false), as it comes to between regions
  --json                the last line of the output is JSON
`

const options = optionsOrExit('count', () => {
  const { values } = parseOptions(process.argv.slice(2), OPTIONS)
  return {
    before: integerOf('--before', values.before ?? '13000'),
    number: integerOf('--number', values.number ?? '500', 1),
    wakings: integerOf('--wakings', values.wakings ?? '3', 1),
    eventsKept: integerOf('--events-kept', values['events-kept'] ?? '10000'),
    askAll: values['ask-all'],
    json: values.json,
    help: values.help,
  }
})
if (options.help) {
  say(HELP)
  process.exit(0)
}

const { json, help: _, ...counting } = options
const counted = await countOld({ ...counting, onProgress: what => note(`${what}\n`) })
const report = countReport(counted)
if (json) say(`${JSON.stringify(report)}\n`)
else {
  for (const state of ['busy', 'woken'] as const) {
    console.log(`\nOne of each, ${state}:`)
    console.table(Object.fromEntries(USES.map(use => [use, counted[state][use]])))
  }
  console.log('\nThe price of a million, in dollars:')
  const price = (use: (typeof USES)[number]) => ({
    busy: report[use].busy.pricePerMillion,
    woken: report[use].woken.pricePerMillion,
  })
  console.table(Object.fromEntries(USES.map(use => [use, price(use)])))
  console.log(`\nRows read to wake the lock, at most: ${report.wake.rowsRead}`)
}
