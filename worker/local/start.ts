/**
 * `npm start`: the whole service in one workerd process on loopback, with three participants and storage that
 * stays.
 */
import { stopOnSignals } from './leave-nobody.ts'
import { isFree, isPort } from './ports.ts'
import { DEFAULT_PORT, DEFAULT_STORAGE, type RunningService, startService } from './service.ts'
import { WrongVariables } from './variables.ts'

const PORT = Number(process.env.PORT || DEFAULT_PORT)
const STORAGE = process.env.BATON_STORAGE || DEFAULT_STORAGE

if (!isPort(PORT)) {
  console.error('Baton did not start: PORT is not a whole number from 0 to 65535.')
  process.exit(2)
}

let isStopping = false
let running: RunningService | undefined
stopOnSignals(stop)
const { url, isOpen, process: runtime } = await startOrExplain()

async function startOrExplain(): Promise<RunningService> {
  try {
    running = await startService({ port: PORT, storage: STORAGE, onOutput: line => console.error(line) })
    return running
  } catch (error) {
    if (error instanceof WrongVariables) {
      console.error(`Baton did not start: ${error.message}.`)
      process.exit(2)
    }
    console.error(`Baton could not start: ${(error as Error).message}.`)
    const canListen = await isFree(PORT).catch(() => false)
    if (!canListen) console.error(`Port ${PORT} is in use, or not for you. Take another: PORT=8788 npm start`)
    process.exit(1)
  }
}

/** Nothing exits before what was there for this run is removed. */
async function stop(code = 0): Promise<void> {
  if (isStopping) return
  isStopping = true
  await running?.stop()
  process.exit(code)
}
runtime.once('exit', code => stop(code ?? 1))

const lock = `${url}/v1/locks/demo`
const forWhom = isOpen ? 'open to this machine alone' : 'for those who have a key'
const key = isOpen ? '' : ` -H "authorization: Bearer $BATON_KEY"`
console.log(`Baton is at ${url} (${forWhom}; storage in ${STORAGE})

Try it:
  curl -s -X POST ${lock}/transact${key} -H 'content-type: application/json' -d '{"opId":"hello-1","ops":[{"increment":"visits"}]}'
  curl -s ${lock}/state/visits${key}
  curl -s -X POST ${lock}/acquire${key} -H 'content-type: application/json' -d '{"ttlMs":5000}'

The page: ${url}        The interface: ${url}/docs        Stop with Ctrl-C.`)
