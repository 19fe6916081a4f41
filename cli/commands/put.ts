/** `baton put <lock> <key> <value>`: one value, in an operation of its own. */
import type { Json } from '../../client/index.ts'
import { UsageError } from '../arguments.ts'
import { defineCommand } from '../command.ts'
import { OPERATION_OPTIONS, operate, printOperation } from '../operation.ts'
import { readInput } from '../standard-input.ts'
import { jsonOf, optionalInteger } from '../values.ts'

export const put = defineCommand({
  name: 'put',
  words: ['<lock>', '<key>', '<value>'],
  summary: 'put a value into the guarded state',
  description: `Acquires the lock, puts the value and releases the lock, in one request. The value is JSON, or '-' to read standard
input. A value that begins with a dash goes after --: baton put stock left -- -1`,
  options: {
    text: { type: 'boolean', help: 'take the value as text, not as JSON' },
    'if-revision': {
      type: 'string',
      value: '<number>',
      help: 'only if the key has this revision; 0: if it does not exist',
    },
    ...OPERATION_OPTIONS,
  },
  examples: [
    'baton put orders limit \'{"euro": 100}\'',
    'baton put orders leader eu-1 --text --if-revision 0',
    'baton put orders report - < report.json',
  ],
  async run(context, { options, words }) {
    const [name, key, word] = words as [string, string, string]
    const text = word === '-' ? await readInput(context.signals.signal) : word
    const value = options.text ? text : jsonOf('the value', text, '; for a text, add --text')
    const ifRevision = optionalInteger('--if-revision', options['if-revision'])
    if (key === '') throw new UsageError('the key is empty')
    const op = { put: key, value: value as Json, ...(ifRevision !== undefined && { ifRevision }) }
    const answer = await operate(context, name, [op], options)
    const [result] = answer.results as readonly { readonly revision: number }[]
    return printOperation(context.output, answer, () => [`revision ${result!.revision}`])
  },
})
