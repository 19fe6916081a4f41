/** `npm run cluster -- --participants 5`: see cluster.ts. */
import { parseArgs } from 'node:util'
import { LocalCluster } from './cluster.ts'
import { isHarmless } from './harmless.ts'
import { stopOnSignals } from './leave-nobody.ts'
import { freePortFrom, isFree, isPort } from './ports.ts'
import { pageOrNone } from './service.ts'
import { WrongVariables } from './variables.ts'

const USAGE =
  'npm run cluster -- [--participants 1..13] [--port 8787] [--protocol wme-1|wme-2] [--storage folder]'
const DEFAULT_PORT = Number(process.env.PORT || '8787')
const options = readArguments()
const participants = Number(options.participants)
const port = options.port === undefined ? null : Number(options.port)

if (options.help) {
  console.log(USAGE)
  process.exit(0)
}
if (!Number.isInteger(participants) || participants < 1 || participants > 13)
  misused('--participants is not a whole number from 1 to 13.')
if (port !== null && !(options.port !== '' && isPort(port)))
  misused('--port is not a whole number from 0 to 65535.')
if (!isPort(DEFAULT_PORT)) misused('PORT is not a whole number from 0 to 65535.')

let isStopping = false
let running: LocalCluster | undefined
stopOnSignals(stop)
const cluster = await startOrExplain()

function readArguments() {
  try {
    return parseArgs({
      options: {
        participants: { type: 'string', default: '3' },
        port: { type: 'string' },
        protocol: { type: 'string', default: 'wme-2' },
        storage: { type: 'string', default: '.baton/cluster' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    // The first sentence says what is wrong, the others how a program would get by.
    return misused(`${(error as Error).message.split(/\.\s/)[0]}.`)
  }
}

function misused(mistake: string): never {
  console.error(`The cluster did not start: ${mistake} ${USAGE}`)
  process.exit(2)
}

async function startOrExplain(): Promise<LocalCluster> {
  try {
    running = await LocalCluster.start({
      participants,
      storage: options.storage,
      port: await choosePort(),
      protocol: options.protocol,
      assets: await pageOrNone(line => console.error(line)),
      onOutput: line => {
        if (!isHarmless(line)) console.error(line)
      },
    })
    return running
  } catch (error) {
    console.error(`The cluster could not start: ${(error as Error).message}.`)
    process.exit(error instanceof WrongVariables ? 2 : 1)
  }
}

/** `npm start` may have the usual port; whoever names a port wants no other. */
async function choosePort(): Promise<number> {
  if (port !== null) {
    if (await isFree(port)) return port
    throw new Error(`port ${port} is in use; choose another one with --port`)
  }
  const free = await freePortFrom(DEFAULT_PORT)
  if (free !== DEFAULT_PORT) {
    console.log(`Port ${DEFAULT_PORT} is in use (by \`npm start\`?), so the cluster takes ${free}.`)
  }
  return free
}

async function stop(code = 0): Promise<void> {
  if (isStopping) return
  isStopping = true
  await running?.stop()
  process.exit(code)
}
cluster.router.process.once('exit', code => stop(code ?? 1))

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
