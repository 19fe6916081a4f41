/** `baton locks`: the locks that there are. */
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { optionalInteger } from '../values.ts'

export const locks = defineCommand({
  name: 'locks',
  words: [],
  summary: 'list the locks that there are',
  description: `Prints the name of each lock that the key may read, its protocol and how many participants it has, in the
order of the names, with tabs between them. With --json one line for each: {"lock", "protocol",
"participants", "generation"}. A lock is listed a moment after it was created.`,
  options: {
    prefix: { type: 'string', value: '<text>', help: 'only names that begin with this' },
    limit: { type: 'string', value: '<number>', help: 'at most so many' },
  },
  examples: ['baton locks', 'baton locks --prefix orders: --json'],
  async run({ baton, output, signals }, { options }) {
    let left = optionalInteger('--limit', options.limit, 1) ?? Number.POSITIVE_INFINITY
    const listed = baton.eachLock({
      ...(options.prefix !== undefined && { prefix: options.prefix }),
      signal: signals.signal,
    })
    for await (const one of listed) {
      output.result(one, [`${one.lock}\t${one.protocol}\t${one.participants}`])
      if (--left === 0) break
    }
    return EXIT.done
  },
})
