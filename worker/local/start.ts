/** `npm start`: the whole service in one workerd process on loopback, with three participants and storage that stays. */
import { exitWithNpm } from './leave-nobody.ts'
import { serviceScript } from './service-script.ts'
import { StorageInUse } from './storage-lock.ts'
import { type RunningWorkerd, startWorkerd } from './workerd.ts'

const PORT = Number(process.env.PORT ?? '8787')
const STORAGE = process.env.BATON_STORAGE ?? '.baton/start'

const script = await serviceScript()
const running = await startOrExplain()

async function startOrExplain(): Promise<RunningWorkerd> {
  try {
    const onOutput = (line: string) => console.error(line)
    return await startWorkerd({
      script,
      storage: STORAGE,
      port: PORT,
      variables: { BATON_OPEN: 'true' },
      onOutput,
    })
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

The interface: ${running.url}/docs        Stop with Ctrl-C.`)

const stop = async () => {
  await running.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
exitWithNpm(stop)
running.process.once('exit', code => process.exit(code ?? 1))
