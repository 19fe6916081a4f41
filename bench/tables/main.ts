/** `npm run tables`: steps, messages, requests and price of every protocol, side by side with the papers. */
import { writeFile } from 'node:fs/promises'
import { parseOptions } from '../../cli/arguments.ts'
import { optionsOrExit } from '../../test/tools/options-or-exit.ts'
import { chart } from './chart.ts'
import { measureCycles } from './cost.ts'
import { report } from './report.ts'
import { NOTES } from './row.ts'
import { Measurements, measureRows, unexpected, unexplained } from './table.ts'

const OPTIONS = { write: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } } as const

const { values: options } = optionsOrExit('tables', () => parseOptions(process.argv.slice(2), OPTIONS))

if (options.help) {
  console.log('npm run tables -- [--write: docs/tables.md and docs/messages.svg] [--json]')
} else {
  const measurements = new Measurements()
  const rows = measureRows(measurements)
  const cycles = measureCycles(measurements)
  if (options.write) {
    await writeFile(new URL('../../docs/tables.md', import.meta.url), report(rows, cycles))
    await writeFile(new URL('../../docs/messages.svg', import.meta.url), chart(cycles))
  }
  console.log(options.json ? JSON.stringify({ notes: NOTES, rows, cycles }, null, 2) : report(rows, cycles))
  const problems = [...unexplained(rows), ...unexpected(rows)]
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
