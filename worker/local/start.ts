/**
 * `npm start`: the whole service in one workerd process on loopback, with three participants and storage that
 * stays.
 */
import { exitWithNpm } from './leave-nobody.ts'
import { DEFAULT_PORT, DEFAULT_STORAGE, startService } from './service.ts'
import { StorageInUse } from './storage-lock.ts'
import type { RunningWorkerd } from './workerd.ts'

const PORT = Number(process.env.PORT ?? DEFAULT_PORT)
const STORAGE = process.env.BATON_STORAGE ?? DEFAULT_STORAGE

const running = await startOrExplain()

async function startOrExplain(): Promise<RunningWorkerd> {
  try {
    return await startService({ port: PORT, storage: STORAGE, onOutput: line => console.error(line) })
  } catch (error) {
    console.error(`Baton could not start on port ${PORT}: ${(error as Error).message}.`)
    if (!(error instanceof StorageInUse)) console.error('If the port is in use: PORT=8788 npm start')
    process.exit(1)
  }
}

const lock = `${running.url}/v1/locks/demo`
console.log(`Baton is at ${running.url} (open to this machine alone; storage in ${STORAGE})

Try it:
  curl -s -X POST ${lock}/transact -H 'content-type: application/json' -d '{"opId":"hello-1","ops":[{"increment":"visits"}]}'
  curl -s ${lock}/state/visits
  curl -s -X POST ${lock}/acquire -H 'content-type: application/json' -d '{"ttlMs":5000}'

The page: ${running.url}        The interface: ${running.url}/docs        Stop with Ctrl-C.`)

const stop = async () => {
  await running.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
exitWithNpm(stop)
running.process.once('exit', code => process.exit(code ?? 1))
