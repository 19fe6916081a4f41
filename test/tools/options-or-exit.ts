/**
 * How the project's tools (simulator, chaos, fuzz, mutants, benchmarks) take wrong options: in one sentence,
 * status 2.
 */
import { writeSync } from 'node:fs'
import { UsageError } from '../../cli/arguments.ts'

/** `script` is the name for `npm run`. */
export function optionsOrExit<Options>(script: string, read: () => Options): Options {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    writeSync(2, `${error.message}\nTry: npm run ${script} -- --help\n`)
    process.exit(2)
  }
}
