/** `baton acquire <lock>`: a grant that outlives this command. */
import type { Grant, Lock } from '../../client/index.ts'
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
    const grant = await confirmed(lock, (await lock.acquire(wanted)).grant, wanted.ttlMs)
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

/**
 * After a wait the service wants a sign that somebody has the grant, or it ends soon; and this process is
 * about to end.
 */
async function confirmed(lock: Lock, granted: Grant, ttlMs: number | undefined): Promise<Grant> {
  const { confirmMs, ...grant } = granted
  return confirmMs === undefined ? grant : { ...grant, ...(await lock.grant(grant.id).keepAlive(ttlMs)) }
}
