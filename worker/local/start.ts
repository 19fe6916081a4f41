/**
 * `npm start`: the whole service in one workerd process on loopback, with three participants and storage that
 * stays.
 */
import { exitWithNpm } from './leave-nobody.ts'
import { DEFAULT_PORT, DEFAULT_STORAGE, type RunningService, startService } from './service.ts'
import { StorageInUse } from './storage-lock.ts'
import { WrongVariables } from './variables.ts'

const PORT = Number(process.env.PORT || DEFAULT_PORT)
const STORAGE = process.env.BATON_STORAGE || DEFAULT_STORAGE

if (!Number.isInteger(PORT) || PORT < 0 || PORT > 65_535) {
  console.error('Baton did not start: PORT is not a whole number from 0 to 65535.')
  process.exit(2)
}

const running = await startOrExplain()

async function startOrExplain(): Promise<RunningService> {
  try {
    return await startService({ port: PORT, storage: STORAGE, onOutput: line => console.error(line) })
  } catch (error) {
    if (error instanceof WrongVariables) {
      console.error(`Baton did not start: ${error.message}.`)
      process.exit(2)
    }
    console.error(`Baton could not start on port ${PORT}: ${(error as Error).message}.`)
    if (!(error instanceof StorageInUse)) console.error('If the port is in use: PORT=8788 npm start')
    process.exit(1)
  }
}

const lock = `${running.url}/v1/locks/demo`
const forWhom = running.isOpen ? 'open to this machine alone' : 'for those who have a key'
const key = running.isOpen ? '' : ` -H "authorization: Bearer $BATON_KEY"`
console.log(`Baton is at ${running.url} (${forWhom}; storage in ${STORAGE})

Try it:
  curl -s -X POST ${lock}/transact${key} -H 'content-type: application/json' -d '{"opId":"hello-1","ops":[{"increment":"visits"}]}'
  curl -s ${lock}/state/visits${key}
  curl -s -X POST ${lock}/acquire${key} -H 'content-type: application/json' -d '{"ttlMs":5000}'

The page: ${running.url}        The interface: ${running.url}/docs        Stop with Ctrl-C.`)

const stop = async () => {
  await running.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
exitWithNpm(stop)
running.process.once('exit', code => process.exit(code ?? 1))
