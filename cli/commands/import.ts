/** `baton import <file>`: a lock from what `baton export` has saved. */
import { readFileSync, statSync } from 'node:fs'
import type { LockExport } from '../../client/index.ts'
import { UsageError } from '../arguments.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { readInput } from '../standard-input.ts'
import { jsonOf } from '../values.ts'

/** What the service reads at most. A test compares. */
export const MAX_IMPORT_BYTES = 128 * 1024 * 1024

export const importLock = defineCommand({
  name: 'import',
  words: ['<file>', '[lock]'],
  summary: 'make a lock from what was exported',
  description: `Makes a lock from the file that \`baton export\` made, or from standard input for '-': under its own name,
or under the name that is given. There must be no lock of this name. It goes on above the fences of the
exported lock.`,
  options: {},
  examples: ['baton import orders.json', 'baton export orders | baton import - orders-copy'],
  async run({ lock, output, signals }, { words }) {
    const [file, name] = words as [string, string | undefined]
    const text = file === '-' ? await readInput(signals.signal, MAX_IMPORT_BYTES) : contentOf(file)
    const exported = jsonOf(file === '-' ? 'standard input' : `'${file}'`, text)
    if (!isExport(exported)) throw new UsageError(`that is not what 'baton export' prints`)
    const made = name ?? exported.lock
    const configuration = await lock(made).importFrom(exported, { signal: signals.signal })
    output.result(configuration, [`${made} is there, with everything that ${exported.lock} had`])
    return EXIT.done
  },
})

function contentOf(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > MAX_IMPORT_BYTES) throw new Error(`it has more than ${MAX_IMPORT_BYTES} bytes`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read '${file}': ${(error as Error).message}`)
  }
}

/** The service looks closer. */
function isExport(value: unknown): value is LockExport {
  if (typeof value !== 'object' || value === null) return false
  const { format, lock } = value as Partial<LockExport>
  return format === 1 && typeof lock === 'string'
}
