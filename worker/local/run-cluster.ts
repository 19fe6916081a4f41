/** `npm run cluster -- --participants 5`: see cluster.ts. */
import { parseArgs } from 'node:util'
import { LocalCluster } from './cluster.ts'
import { isHarmless } from './harmless.ts'
import { exitWithNpm } from './leave-nobody.ts'
import { freePortFrom, isFree } from './ports.ts'
import { pageOrNone } from './service.ts'
import { WrongVariables } from './variables.ts'

const DEFAULT_PORT = Number(process.env.PORT ?? '8787')
const { values: options } = parseArgs({
  options: {
    participants: { type: 'string', default: '3' },
    port: { type: 'string' },
    protocol: { type: 'string', default: 'wme-2' },
    storage: { type: 'string', default: '.baton/cluster' },
    help: { type: 'boolean', default: false },
  },
})
const participants = Number(options.participants)

if (options.help || !Number.isInteger(participants) || participants < 1 || participants > 13) {
  console.error(
    'npm run cluster -- [--participants 1..13] [--port 8787] [--protocol wme-1|wme-2] [--storage folder]',
  )
  process.exit(options.help ? 0 : 2)
}

let isStopping = false
const cluster = await startOrExplain()

async function startOrExplain(): Promise<LocalCluster> {
  try {
    return await LocalCluster.start({
      participants,
      storage: options.storage,
      port: await choosePort(),
      protocol: options.protocol,
      assets: await pageOrNone(line => console.error(line)),
      onOutput: line => {
        if (!isHarmless(line)) console.error(line)
      },
    })
  } catch (error) {
    console.error(`The cluster could not start: ${(error as Error).message}.`)
    process.exit(error instanceof WrongVariables ? 2 : 1)
  }
}

/** `npm start` may have the usual port; whoever names a port wants no other. */
async function choosePort(): Promise<number> {
  if (options.port !== undefined) {
    const port = Number(options.port)
    if (await isFree(port)) return port
    throw new Error(`port ${port} is in use; choose another one with --port`)
  }
  const port = await freePortFrom(DEFAULT_PORT)
  if (port !== DEFAULT_PORT) {
    console.log(`Port ${DEFAULT_PORT} is in use (by \`npm start\`?), so the cluster takes ${port}.`)
  }
  return port
}

const members = Array.from({ length: participants }, (_, index) => cluster.member(index + 1))
const pidOf = (id: number): number => members[id - 1]!.process.pid!
const lock = `${cluster.url}/v1/locks/demo`
const transact = (number: number): string =>
  `curl -s -X POST ${lock}/transact -H 'content-type: application/json' -d '{"opId":"visit-${number}","ops":[{"increment":"visits"}]}'`
const kill = process.platform === 'win32' ? `taskkill /F /PID ${pidOf(1)}` : `kill -9 ${pidOf(1)}`

console.log(`Baton is at ${cluster.url}, its participants are processes of their own:
${members.map((member, index) => `  participant ${index + 1}: process ${pidOf(index + 1)}, at ${member.url}`).join('\n')}

Use the lock, kill a participant, and see the lock go on without it:
  ${transact(1)}
  ${kill}
  ${transact(2)}
  curl -s ${lock}

Stop with Ctrl-C. Started again, it has the same state and the same ports (storage in ${options.storage}).`)

for (const [index, member] of members.entries()) {
  member.process.once('exit', () => {
    if (!isStopping)
      console.log(`participant ${index + 1} is gone; it comes back when the cluster is started again`)
  })
}
cluster.router.process.once('exit', code => {
  if (!isStopping) process.exit(code ?? 1)
})
const stop = async () => {
  isStopping = true
  await cluster.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
exitWithNpm(stop)
