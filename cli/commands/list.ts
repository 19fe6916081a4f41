/** `baton list <lock>`: the keys of the guarded state. */
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { AT_OPTION } from '../hold.ts'
import { READ_OPTIONS, readOptionsOf } from '../read.ts'
import { optionalInteger } from '../values.ts'

export const list = defineCommand({
  name: 'list',
  words: ['<lock>'],
  summary: 'list the keys of the guarded state',
  description: `Prints each key and its value, in the order of the keys, with a tab between them.
With --json one line for each: {"key", "value", "revision"}.`,
  options: {
    prefix: { type: 'string', value: '<text>', help: 'only keys that begin with this' },
    limit: { type: 'string', value: '<number>', help: 'at most so many' },
    ...READ_OPTIONS,
    at: AT_OPTION,
  },
  examples: ['baton list orders', 'baton list orders --prefix user/ --json'],
  async run({ lock, output, signals }, { options, words }) {
    let left = optionalInteger('--limit', options.limit, 1) ?? Number.POSITIVE_INFINITY
    const entries = lock(words[0]!).entries({
      ...readOptionsOf(options),
      ...(options.prefix !== undefined && { prefix: options.prefix }),
      signal: signals.signal,
    })
    for await (const entry of entries) {
      output.result(entry, [`${printable(entry.key)}\t${JSON.stringify(entry.value)}`])
      if (--left === 0) break
    }
    return EXIT.done
  },
})

/**
 * A key may have any characters; those that would move the cursor or end the line are shown as JSON shows
 * them.
 */
function printable(key: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return /[\u0000-\u001f\u007f-\u009f"\\]/.test(key) ? JSON.stringify(key) : key
}
