/** `baton get <lock> <key>`. */
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { AT_OPTION } from '../hold.ts'
import { READ_OPTIONS, readOptionsOf } from '../read.ts'

export const get = defineCommand({
  name: 'get',
  words: ['<lock>', '<key>'],
  summary: 'read a key of the guarded state',
  description:
    'Prints the value as JSON. You need not hold the lock. The exit code is 1 if there is no such key.',
  options: {
    raw: { type: 'boolean', help: 'print a text as it is, without quotes' },
    ...READ_OPTIONS,
    at: AT_OPTION,
  },
  examples: [
    'baton get orders leader',
    'baton get orders leader --raw',
    'baton get orders leader --local --at 2',
  ],
  async run({ lock, output, signals }, { options, words }) {
    const read = await lock(words[0]!).get(words[1]!, { ...readOptionsOf(options), signal: signals.signal })
    if (read.revision === 0 && !output.isJson) {
      output.note(`baton: There is no key '${read.key}'.`)
    } else {
      const isPlain = options.raw && typeof read.value === 'string'
      output.result(read, [isPlain ? (read.value as string) : JSON.stringify(read.value)])
    }
    return read.revision === 0 ? EXIT.refused : EXIT.done
  },
})
