/** `baton eject <lock>`: an operator takes the lock from its holder. */
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { optionalInteger } from '../values.ts'

export const eject = defineCommand({
  name: 'eject',
  words: ['<lock>'],
  summary: 'force the present holder out',
  description: `Takes the lock from whoever holds it, for operators. With --fence only from the holder that has this fence
(\`baton status\` shows it): it can be repeated without harm to the next holder.`,
  options: { fence: { type: 'string', value: '<fence>', help: 'only the holder with this fence' } },
  examples: ['baton eject orders --fence 7'],
  async run({ lock, output, signals }, { options, words }) {
    const fence = optionalInteger('--fence', options.fence)
    const { epoch } = await lock(words[0]!).eject({
      ...(fence !== undefined && { fence }),
      signal: signals.signal,
    })
    const who = fence === undefined ? 'whoever held the lock' : `the holder with fence ${fence}`
    output.result({ epoch }, [`${who} is out; the lock is in epoch ${epoch}`])
    return EXIT.done
  },
})
