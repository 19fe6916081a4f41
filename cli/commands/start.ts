/** `baton start`: the whole service on this machine, as `npm start` does. */
import { once } from 'node:events'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Refusal } from '../explain.ts'
import { integerOf } from '../values.ts'

export const start = defineCommand({
  name: 'start',
  words: [],
  summary: 'start the whole service on this machine',
  description: `Starts the service on loopback, in one process with three participants, for trying and developing. It is open to
everybody on this machine and needs no key, unless BATON_KEYS is set, or BATON_OPEN=false. The other
variables of the service, such as BATON_PROTOCOL, are taken from the environment as well. Its state stays in
the storage folder. Ctrl-C ends it, with exit code 0.`,
  options: {
    port: {
      type: 'string',
      value: '<number>',
      help: 'where it listens; 0 for any port (default PORT, or 8787)',
    },
    storage: {
      type: 'string',
      value: '<folder>',
      help: 'where its state stays (default BATON_STORAGE, or .baton/start)',
    },
  },
  examples: ['baton start', 'baton start --port 8788 --storage ./state'],
  async run({ output, signals, environment }, { options }) {
    // Loaded only here: no other command needs what starts a service.
    const { DEFAULT_PORT, DEFAULT_STORAGE, startService } = await import('../../worker/local/service.ts')
    const { WrongVariables } = await import('../../worker/local/variables.ts')
    const port = integerOf('--port', options.port ?? environment.PORT ?? String(DEFAULT_PORT), 0, 65_535)
    const storage = options.storage ?? environment.BATON_STORAGE ?? DEFAULT_STORAGE
    const running = await startService({ port, storage, onOutput: line => output.note(line) }).catch(
      (error: Error) => {
        if (error instanceof WrongVariables)
          throw new Refusal('misconfigured', `the service did not start: ${error.message}`, EXIT.usage)
        throw new Refusal('not_started', `the service could not start on port ${port}: ${error.message}`)
      },
    )
    const forWhom = running.isOpen ? 'open to this machine alone' : 'for those who have a key'
    output.result({ url: running.url, storage }, [
      `Baton is at ${running.url} (${forWhom}; storage in ${storage}).`,
      `The page: ${running.url}`,
      `Try: baton --url ${running.url} put demo greeting hello --text`,
      'Stop with Ctrl-C.',
    ])
    const ended = once(running.process, 'exit').then(([code]) => code as number | null)
    const stopped = once(signals.signal, 'abort').then(() => running.stop())
    if (signals.signal.aborted) await running.stop()
    const code = await Promise.race([ended, stopped.then(() => EXIT.done)])
    if (signals.received !== null) return EXIT.done
    throw new Refusal('ended', `the service ended by itself, with exit code ${code}`)
  },
})
