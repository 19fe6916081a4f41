/** `baton run <lock> -- command…`: the lock is held while the command runs. */
import type { Held } from '../../client/index.ts'
import { UsageError } from '../arguments.ts'
import { Child } from '../child.ts'
import { type Context, defineCommand } from '../command.ts'
import { EXIT, RUN_EXIT_CODES, RUN_OFFSET } from '../exit-codes.ts'
import { explain, sentence } from '../explain.ts'
import { HOLD_OPTIONS, holdOptionsOf } from '../hold.ts'
import { codeOfSignal } from '../signals.ts'
import { durationOf } from '../values.ts'

const DEFAULT_GRACE = '10s'

export const run = defineCommand({
  name: 'run',
  words: ['<lock>'],
  rest: '<command> [argument...]',
  summary: 'run a command while the lock is held',
  description: `Waits for the lock, runs the command, and releases the lock when the command has ended.

The command finds BATON_LOCK, BATON_FENCE, BATON_GRANT and BATON_URL in its environment. Give the fence to whatever the
command changes elsewhere, so that it can refuse a holder that comes late. Inside the command, \`baton put\` and
\`baton transact\` on the same lock use its grant.

If the lock is lost, the command gets SIGTERM, and SIGKILL if it is still there when the grace is over. Signals sent
to baton are passed on to the command. Without a terminal, they reach everything that the command has started.`,
  options: {
    ...HOLD_OPTIONS,
    grace: {
      type: 'string',
      value: '<duration>',
      help: `how long the command has, after SIGTERM, when the lock is lost (default ${DEFAULT_GRACE})`,
    },
  },
  examples: [
    'baton run deploy -- ./deploy.sh',
    'baton run nightly --try -- node report.js',
    "baton run orders --wait 5m -- sh -c 'echo my fence is $BATON_FENCE'",
  ],
  exitCodes: RUN_EXIT_CODES,
  exitOffset: RUN_OFFSET,
  async run(context, { options, words, rest }) {
    const [program, ...args] = rest ?? []
    if (program === undefined) throw new UsageError('the command to run is missing: it goes after --')
    if (program === '') throw new UsageError('the command to run is an empty word')
    const graceMs = durationOf('--grace', options.grace ?? DEFAULT_GRACE)
    const { signals } = context
    const lock = context.lock(words[0]!)
    const wanted = holdOptionsOf(options)
    await context.mustBeThere()
    const held = await lock.acquire({ ...wanted, hearLoss: true, signal: signals.signal })
    let child: Child
    try {
      tell(context, 'granted', { lock: lock.name, fence: held.fence, grant: held.grant.id })
      if (signals.received !== null) {
        // It came between the grant and here.
        await held[Symbol.asyncDispose]()
        return codeOfSignal(signals.received)
      }
      child = new Child([program, ...args], {
        ...context.environment,
        BATON_LOCK: lock.name,
        BATON_FENCE: String(held.fence),
        BATON_GRANT: held.grant.id,
        BATON_URL: context.settings.url.value,
      })
    } catch (error) {
      // Nothing runs that needs the lock, and this process would keep it alive.
      await held[Symbol.asyncDispose]()
      throw error
    }
    signals.giveTo(signal => child.forward(signal))
    return finish(context, held, child, graceMs)
  },
})

async function finish(context: Context, held: Held, child: Child, graceMs: number): Promise<number> {
  const onLoss = () => {
    if (held.lost === undefined) return
    tell(
      context,
      'lost',
      { reason: held.lost.code },
      `the lock was lost, and the command is stopped: ${held.lost.detail}`,
    )
    stopped = child.end(graceMs)
  }
  let stopped: Promise<void> | undefined
  held.signal.addEventListener('abort', onLoss)
  if (held.signal.aborted) onLoss()
  const code = await child.ended
  await stopped
  held.signal.removeEventListener('abort', onLoss)
  if (child.startError !== null)
    tell(context, 'not-started', { message: sentence(child.startError) }, child.startError)
  await release(context, held)
  if (held.lost !== undefined && stopped === undefined && child.startError === null) {
    tell(
      context,
      'lost',
      { reason: held.lost.code },
      `the lock was lost while the command ran: ${held.lost.detail}`,
    )
  }
  tell(context, 'ended', { code })
  return held.lost === undefined || child.startError !== null ? code : EXIT.lost + RUN_OFFSET
}

/** The command is done whatever comes of this; a lock that cannot be released is free when its grant ends. */
async function release(context: Context, held: Held): Promise<void> {
  try {
    await held.release()
  } catch (error) {
    const { message, code } = explain(error, context.settings)
    const detail = `the lock could not be released, and is free only when its grant ends. ${message}`
    tell(context, 'not-released', { code, message }, detail)
  }
}

/**
 * Standard output is the command's: what is said of the lock goes to standard error, with --json as JSON
 * lines.
 */
function tell(context: Context, event: string, fields: object, message?: string): void {
  const { output } = context
  if (output.isJson) output.note(JSON.stringify({ event, ...fields }))
  else if (message !== undefined) output.note(`baton: ${sentence(message)}`)
}
