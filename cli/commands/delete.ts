/** `baton delete <lock>`: the end of a lock and of the state that it guards. */
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'

export const remove = defineCommand({
  name: 'delete',
  words: ['<lock>'],
  summary: 'delete a lock with the state that it guards',
  description: `Deletes the lock and its state, which cannot be undone: \`baton export\` saves it before. While somebody
holds the lock, the exit code is 3, unless --force ejects the holder. A later lock of this name goes on
above the fences of this one.`,
  options: { force: { type: 'boolean', help: 'also if somebody holds it' } },
  examples: ['baton delete orders', 'baton delete orders --force'],
  async run({ lock, output, signals }, { options, words }) {
    const [name] = words as [string]
    await lock(name).delete({ force: options.force, signal: signals.signal })
    output.result({ lock: name, deleted: true }, [`${name} is deleted`])
    return EXIT.done
  },
})
