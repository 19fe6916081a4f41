/** `baton status [lock]`: how the service or a lock is, once or as it changes. */
import { systemClock } from '../../client/clock.ts'
import type { Status } from '../../client/index.ts'
import { UsageError } from '../arguments.ts'
import { type Context, defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { explain } from '../explain.ts'
import { healthOf } from '../health.ts'
import { LiveView } from '../live-view.ts'
import { codeOfSignal } from '../signals.ts'
import { statusLine, statusLines } from '../status-view.ts'
import { durationOf, writeDuration } from '../values.ts'

const DEFAULT_EVERY = '1s'
const SHORTEST_EVERY_MS = 100

export const status = defineCommand({
  name: 'status',
  words: ['[lock]'],
  summary: 'show the holder and the participants of a lock, or how the service is',
  description: `With a lock: who holds it, and what each of its participants knows. Without one: whether the service runs.
--follow asks again and again: at a terminal as a table that is drawn anew, elsewhere as one line for each change.
Asking wakes a lock that is idle.`,
  options: {
    follow: { type: 'boolean', short: 'f', help: 'go on until Ctrl-C' },
    every: {
      type: 'string',
      value: '<duration>',
      help: `how often --follow asks (default ${DEFAULT_EVERY})`,
    },
  },
  examples: ['baton status', 'baton status orders', 'baton status orders --follow'],
  async run(context, { options, words }) {
    const everyMs = durationOf('--every', options.every ?? DEFAULT_EVERY)
    if (everyMs < SHORTEST_EVERY_MS)
      throw new UsageError(`--every is at least ${writeDuration(SHORTEST_EVERY_MS)}`)
    const [name] = words
    if (options.follow) {
      if (name === undefined) throw new UsageError('--follow needs a lock')
      return follow(context, name, everyMs)
    }
    const { output, settings, signals } = context
    if (name === undefined) {
      const health = await healthOf(settings, signals.signal)
      output.result({ url: settings.url.value, ...health }, [
        `The service at ${settings.url.value} is ${health.status}.`,
      ])
    } else {
      const status = await context.lock(name).status({ signal: signals.signal })
      output.result(status, statusLines(status))
    }
    return EXIT.done
  },
})

/** A service that goes away is no reason to end: it is what one wants to see. */
async function follow(context: Context, name: string, everyMs: number): Promise<number> {
  const { signal } = context.signals
  const lock = context.lock(name)
  const show = process.stdout.isTTY && !context.output.isJson ? atTerminal() : inLines(context)
  let isFirst = true
  try {
    while (!signal.aborted) {
      const seen = await lock.status({ signal }).catch((error: unknown) => {
        if (isFirst) throw error
        return explain(error, context.settings).message
      })
      isFirst = false
      if (!signal.aborted) show.seen(seen)
      // Node's own timers end at once if they are for longer than 24 days.
      await systemClock.sleep(everyMs, { signal })
    }
  } finally {
    show.end()
  }
  return codeOfSignal(context.signals.received!)
}

interface Follower {
  seen(status: Status | string): void
  end(): void
}

function atTerminal(): Follower {
  const { stdout } = process
  const view = new LiveView(
    text => stdout.write(text),
    () => stdout,
  )
  return {
    seen: status => {
      const lines = typeof status === 'string' ? [status] : statusLines(status)
      view.draw([...lines, '', `${new Date().toISOString()}  Ctrl-C to end`])
    },
    end: () => view.end(),
  }
}

function inLines({ output }: Context): Follower {
  let last = ''
  return {
    seen: status => {
      const line = typeof status === 'string' ? status : statusLine(status)
      if (line === last) return
      last = line
      const time = new Date().toISOString()
      output.result(typeof status === 'string' ? { time, error: { message: status } } : { time, ...status }, [
        `${time}  ${line}`,
      ])
    },
    end: () => {},
  }
}
