/** `baton acquire <lock>`: a grant that outlives this command. */
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { HOLD_OPTIONS, holdOptionsOf } from '../hold.ts'
import { columns } from '../output.ts'

export const acquire = defineCommand({
  name: 'acquire',
  words: ['<lock>'],
  summary: 'acquire a lock, and leave it held',
  description: `Acquires the lock and prints the grant. Nothing keeps it alive: it ends after its time to live, or with
\`baton release\`. To hold a lock for as long as something runs, use \`baton run\`.`,
  options: HOLD_OPTIONS,
  examples: ['baton acquire orders --ttl 2m', 'baton acquire orders --try --json'],
  async run(context, { options, words }) {
    const { output, signals } = context
    const lock = context.lock(words[0]!)
    const wanted = { ...holdOptionsOf(options), keepAlive: false, signal: signals.signal }
    await context.mustBeThere()
    const held = await lock.acquire(wanted)
    const { grant } = held
    output.result(
      { grant },
      columns([
        ['grant', grant.id],
        ['fence', String(grant.fence)],
        ['until', grant.expiresAt],
      ]),
    )
    return EXIT.done
  },
})
