/** `baton transact <lock> <ops>`: several ops as one atomic operation. */
import type { KeyValueOp } from '../../client/index.ts'
import { defineCommand } from '../command.ts'
import { OPERATION_OPTIONS, operate, printOperation } from '../operation.ts'
import { readInput } from '../standard-input.ts'
import { jsonOf } from '../values.ts'

export const transact = defineCommand({
  name: 'transact',
  words: ['<lock>', '<ops>'],
  summary: 'apply several ops as one atomic operation',
  description: `Acquires the lock, applies the ops and releases the lock, in one request: all of the ops, or none. The ops are a JSON
list, or '-' for standard input. Prints one result for each op.

  {"put": key, "value": …, "ifRevision"?}   {"get": key}   {"delete": key, "ifRevision"?}
  {"increment": key, "by"?}                 {"append": key, "value": …}`,
  options: OPERATION_OPTIONS,
  examples: [
    'baton transact orders \'[{"increment": "sold"}, {"get": "limit"}]\'',
    'baton transact orders - --op-id order-17 < ops.json',
  ],
  async run(context, { options, words }) {
    const [name, word] = words as [string, string]
    const ops = jsonOf('the list of ops', word === '-' ? await readInput(context.signals.signal) : word)
    const list = (Array.isArray(ops) ? ops : [ops]) as readonly KeyValueOp[]
    const answer = await operate(context, name, list, options)
    return printOperation(context.output, answer, () => answer.results.map(result => JSON.stringify(result)))
  },
})
