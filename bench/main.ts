/** `npm run bench`: see options.ts for what it measures, and measure.ts for how. */
import { note, say } from '../test/print.ts'
import { optionsOrExit } from '../test/tools/options-or-exit.ts'
import { keptResult, writeDocuments } from './documents.ts'
import { HELP, readOptions } from './options.ts'
import { aimsOf } from './report/aims.ts'
import { reportOf } from './report/page.ts'
import { replaceParts, run } from './run.ts'

const args = process.argv.slice(2)
const options = optionsOrExit('bench', () => readOptions(args))
if (options.help) {
  say(HELP)
  process.exit(0)
}
if (options.render) {
  writeDocuments(keptResult())
  process.exit(0)
}

const began = Date.now()
const result = await run(options, `npm run bench -- ${args.join(' ')}`.replace(/ -- $/, ''), line =>
  note(`${clock()} ${line}\n`),
)
note(`${clock()} done\n`)
if (options.json) say(`${JSON.stringify({ ...result, aims: aimsOf(result) })}\n`)
else say(`${reportOf(result).join('\n\n')}\n`)
// What a part could not measure is a note.
if (result.notes.length > 0) process.exitCode = 1
if (options.write)
  writeDocuments(options.isPartial ? replaceParts(keptResult(), result, options.parts) : result)

/** Minutes and seconds since the start. */
function clock(): string {
  const seconds = Math.round((Date.now() - began) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
