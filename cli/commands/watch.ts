/** `baton watch <lock>`: what happens to a lock, as it happens. */
import type { WatchEvent } from '../../client/index.ts'
import { defineCommand } from '../command.ts'
import { AT_OPTION } from '../hold.ts'
import { codeOfSignal } from '../signals.ts'
import { optionalInteger } from '../values.ts'

export const watch = defineCommand({
  name: 'watch',
  words: ['<lock>'],
  summary: 'follow the changes of a lock as they happen',
  description: `Prints what is applied, and who holds the lock, one event on each line. It goes on by itself after a lost connection,
and ends with Ctrl-C or after --count events. Each line begins with a sequence: give the last
one to --since to go on from there.`,
  options: {
    since: { type: 'string', value: '<sequence>', help: 'begin after this; 0 for all that is kept' },
    count: { type: 'string', value: '<number>', help: 'end after so many events' },
    at: AT_OPTION,
  },
  examples: ['baton watch orders', 'baton watch orders --since 0 --json'],
  async run({ lock, output, signals }, { options, words }) {
    const since = optionalInteger('--since', options.since)
    const at = optionalInteger('--at', options.at, 1)
    let left = optionalInteger('--count', options.count, 1) ?? Number.POSITIVE_INFINITY
    const events = lock(words[0]!).watch({
      ...(since !== undefined && { since }),
      ...(at !== undefined && { at }),
      signal: signals.signal,
    })
    for await (const event of events) {
      output.result(event, linesOf(event))
      if (--left === 0) break
    }
    return signals.received === null ? 0 : codeOfSignal(signals.received)
  },
})

function linesOf(event: WatchEvent): string[] {
  const { type, sequence } = event
  switch (type) {
    case 'op': {
      const changes = event.changes.map(change =>
        'deleted' in change ? `${JSON.stringify(change.key)} deleted` : assignment(change.key, change.value),
      )
      return [`${sequence}  op        fence ${event.fence}: ${changes.join(', ') || 'no change'}`]
    }
    case 'holder':
      return [
        event.participant === null
          ? `${sequence}  holder    nobody`
          : `${sequence}  holder    participant ${event.participant}, fence ${event.fence}${ownerIn(event)}`,
      ]
    case 'snapshot':
      return [
        `${sequence}  snapshot  ${event.entries.map(({ key, value }) => assignment(key, value)).join(', ')}`,
      ]
  }
}

const ownerIn = ({ owner }: { readonly owner?: string }): string => (owner === undefined ? '' : ` (${owner})`)

const assignment = (key: string, value: unknown): string =>
  `${JSON.stringify(key)} = ${JSON.stringify(value)}`
