/** `npm run mailing`: the mailing on this machine, beside Baton (`npm start`). */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../worker/local/build.ts'
import { stopOnSignals } from '../../worker/local/leave-nobody.ts'
import { type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'

const { PORT = '8790', BATON_URL = 'http://127.0.0.1:8787', BATON_KEY = '' } = process.env

// The mailing keeps nothing itself: all that it knows is what the locks guard.
const storage = await mkdtemp(join(tmpdir(), 'mailing-'))
let mailing: RunningWorkerd | undefined
stopOnSignals(async () => {
  await mailing?.stop()
  await rm(storage, { recursive: true, force: true })
  process.exit(0)
})
mailing = await startWorkerd({
  script: await bundle(fileURLToPath(new URL('worker.ts', import.meta.url))),
  storage,
  port: Number(PORT),
  variables: { BATON_URL, BATON_KEY },
  objects: {},
  onOutput: line => console.error(line),
}).catch((error: Error) => {
  console.error(`The mailing could not start on port ${PORT}: ${error.message}.`)
  console.error('If the port is in use: PORT=8791 npm run mailing')
  process.exit(1)
})
console.log(`The mailing is at ${mailing.url}, and its locks at ${BATON_URL}. Stop it with Ctrl-C.`)
