/** `baton key`: makes a key. It asks no service: whoever may deploy gives the entry to the service. */
import { LOCK_NAME } from '../../client/connection.ts'
import { UsageError } from '../arguments.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { makeKey } from '../make-key.ts'
import { columns } from '../output.ts'
import { listOf } from '../values.ts'

/** A test compares them with those of the service. */
const VERBS = ['acquire', 'read', 'watch', 'history', 'configure', 'eject', 'metrics', '*']

const LONGEST_NAME = 100

/** As the service checks them: a name, or the beginning of names with a `*` at its end. */
const isLockPattern = (text: string): boolean => text === '*' || LOCK_NAME.test(text.replace(/\*$/, ''))

export const key = defineCommand({
  name: 'key',
  words: [],
  summary: 'make a key for the service',
  description: `Prints a new key, and its entry for the secret BATON_KEYS. The key goes to whoever uses it and is shown only now; the
entry goes into the list of the secret, and holds nothing but the hash of the key. No service is asked.`,
  options: {
    name: { type: 'string', value: '<name>', help: "what logs and refusals call the key (default 'key')" },
    locks: {
      type: 'string',
      value: '<names>',
      help: "locks, with commas between them; 'stock-*' for all that begin so (default '*')",
    },
    verbs: {
      type: 'string',
      value: '<verbs>',
      help: `of ${VERBS.slice(0, -1).join(', ')} (default '*': all)`,
    },
  },
  examples: ["baton key --name checkout --locks 'orders,stock-*' --verbs acquire,read"],
  async run({ output }, { options }) {
    const verbs = listOf(options.verbs ?? '*')
    const unknown = verbs.filter(verb => !VERBS.includes(verb))
    if (unknown.length > 0)
      throw new UsageError(`--verbs: there is no '${unknown.join(', ')}'; there are ${VERBS.join(', ')}`)
    const locks = listOf(options.locks ?? '*')
    const wrong = locks.find(name => !isLockPattern(name))
    if (wrong !== undefined)
      throw new UsageError(`--locks: '${wrong}' is neither a name nor a beginning with a * at its end`)
    if (locks.length === 0 || verbs.length === 0)
      throw new UsageError('--locks and --verbs are lists of at least one')
    const { name = 'key' } = options
    if (name.length > LONGEST_NAME)
      throw new UsageError(`--name: a name has at most ${LONGEST_NAME} characters`)
    const { key, entry } = makeKey({ name, locks, verbs })
    output.result(
      { key, entry },
      columns([
        ['key', key],
        ['entry', JSON.stringify(entry)],
      ]),
    )
    return EXIT.done
  },
})
