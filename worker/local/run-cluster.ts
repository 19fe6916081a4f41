/** `npm run cluster -- --participants 5`: see cluster.ts. */
import { parseArgs } from 'node:util'
import { LocalCluster } from './cluster.ts'
import { exitWithNpm } from './leave-nobody.ts'

const { values: options } = parseArgs({
  options: {
    participants: { type: 'string', default: '3' },
    port: { type: 'string', default: '8787' },
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

const cluster = await startOrExplain()

async function startOrExplain(): Promise<LocalCluster> {
  try {
    return await LocalCluster.start({
      participants,
      storage: options.storage,
      port: Number(options.port),
      protocol: options.protocol,
      onOutput: line => console.error(line),
    })
  } catch (error) {
    console.error(`The cluster could not start: ${(error as Error).message}.`)
    // Those that did start end with this process.
    process.exit(1)
  }
}

console.log(`Baton is at ${cluster.url}, its participants are processes of their own:`)
for (let id = 1; id <= participants; id++) {
  console.log(
    `  participant ${id}: process ${cluster.member(id).process.pid}, kill -9 it and see the lock go on`,
  )
}
const stop = async () => {
  await cluster.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
exitWithNpm(stop)
