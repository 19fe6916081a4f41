/**
 * The processes of a chaos run: one workerd for each participant, a router, and an observer, which is a
 * router whose links are never disturbed. Each participant has a storage folder, a clock and a disk of its
 * own, and all of them can be broken.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../worker/local/build.ts'
import { type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'
import { eventually, sleep } from '../service/eventually.ts'
import { Network } from './network.ts'
import { compilePreload, type Preload, PreloadControl } from './preload.ts'

/**
 * Two deployments that meet during a rolling restart: their text differs, and what a lock is made of by
 * default.
 */
export type Build = 'first' | 'second'

const PROTOCOL_OF: { readonly [Name in Build]: string } = { first: 'wme-2', second: 'wme-1' }
const POLITE_MS = 1_000
export const CLIENT = 'client'
export const ROUTER = 'router'
export const participantName = (id: number): string => `participant-${id}`

interface Machine {
  readonly name: string
  readonly port: number
  readonly log: WriteStream
  readonly variables: { readonly [name: string]: string }
  readonly control: PreloadControl | null
  readonly detours: { readonly [address: string]: string }
  build: Build
  running: RunningWorkerd | null
}

export class Machines {
  readonly network = new Network()
  readonly size: number
  readonly folder: string
  private readonly machines = new Map<string, Machine>()
  private readonly pids = new Set<number>()
  private readonly scripts: { readonly [Name in Build]: string }
  readonly preload: Preload

  private constructor(size: number, folder: string, script: string, preload: Preload) {
    this.size = size
    this.folder = folder
    this.scripts = { first: script, second: `${script}\n// the second build\n` }
    this.preload = preload
  }

  static async start(size: number, folder: string): Promise<Machines> {
    await mkdir(folder, { recursive: true })
    const script = await bundle(fileURLToPath(new URL('../../worker/index.ts', import.meta.url)))
    const machines = new Machines(size, folder, script, await compilePreload(folder))
    await machines.install()
    return machines
  }

  get ids(): number[] {
    return Array.from({ length: this.size }, (_, index) => index + 1)
  }

  /** How many may be broken while the service goes on. */
  get minority(): number {
    return Math.floor((this.size - 1) / 2)
  }

  /**
   * Where a client reaches the router, or a participant's own process, through a link that can be disturbed.
   */
  urlFor(entry: number | typeof ROUTER): string {
    const to = entry === ROUTER ? ROUTER : participantName(entry)
    return `http://${this.network.link(CLIENT, to).address}`
  }

  get observerUrl(): string {
    return this.machine('observer').running!.url
  }

  /** Where a participant's own process answers, whatever is wrong with its links; `null` while it is down. */
  ownUrlOf(id: number): string | null {
    return this.machine(participantName(id)).running?.url ?? null
  }

  control(id: number): PreloadControl {
    return this.machine(participantName(id)).control!
  }

  /** As if the power went: nothing is flushed, nothing is said. */
  async kill(name: string): Promise<void> {
    const machine = this.machine(name)
    await machine.running?.stop('SIGKILL')
    machine.running = null
  }

  /** Asks first. A process that still has connections open would wait for them, so it gets only a moment. */
  async end(name: string): Promise<void> {
    this.signal(name, 'SIGTERM')
    const { process } = this.machine(name).running!
    await Promise.race([once(process, 'exit'), sleep(POLITE_MS)])
    await this.kill(name)
  }

  /** The port of a process that has just ended may be taken for a moment. */
  async start(name: string, build?: Build): Promise<void> {
    const machine = this.machine(name)
    machine.build = build ?? machine.build
    await eventually(async () => {
      machine.running = await this.launch(machine)
    })
    this.pids.add(machine.running!.process.pid!)
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.machine(name).running?.process.kill(signal)
  }

  buildOf(name: string): Build {
    return this.machine(name).build
  }

  isUp(name: string): boolean {
    return this.machine(name).running !== null
  }

  /** Everything that the participant knew is gone. It must not run meanwhile. */
  async wipe(id: number): Promise<void> {
    await rm(this.storageOf(participantName(id)), { recursive: true, force: true })
  }

  /** The processes that are still there after everything was stopped. */
  async stop(): Promise<number> {
    for (const { name } of this.machines.values()) this.signal(name, 'SIGCONT')
    await Promise.all([...this.machines.keys()].map(name => this.kill(name).catch(() => {})))
    await this.network.close()
    for (const { log } of this.machines.values()) log.end()
    return [...this.pids].filter(isAlive).length
  }

  /** For the end of this process, where nothing can be awaited. */
  killAtOnce(): void {
    for (const { name } of this.machines.values()) this.signal(name, 'SIGKILL')
  }

  private async install(): Promise<void> {
    const ports = await freePorts(this.size + 2)
    const participants = this.ids.map(id => ({ url: `http://127.0.0.1:${ports[id - 1]}` }))
    const variables = {
      BATON_PARTICIPANTS: JSON.stringify(participants),
      BATON_PEER_SECRET: randomBytes(32).toString('hex'),
      // Clients come to the participants' own processes too.
      BATON_OPEN: 'true',
      // The histories are judged as a whole: nothing of them may be forgotten.
      BATON_EVENTS_KEPT: '1000000',
    }
    for (const id of this.ids) await this.add(participantName(id), ports[id - 1]!, variables, ports, true)
    await this.add(ROUTER, ports[this.size]!, variables, ports, true)
    await this.add('observer', ports[this.size + 1]!, variables, ports, false)
    await Promise.all([...this.machines.keys()].map(name => this.start(name)))
  }

  private async add(
    name: string,
    port: number,
    variables: { readonly [name: string]: string },
    ports: readonly number[],
    isDisturbed: boolean,
  ): Promise<void> {
    const detours: { [address: string]: string } = {}
    if (isDisturbed) {
      await this.network.connect(CLIENT, name, port)
      for (const id of this.ids) {
        const link = await this.network.connect(name, participantName(id), ports[id - 1]!)
        detours[`127.0.0.1:${ports[id - 1]}`] = link.address
      }
    }
    const isParticipant = name.startsWith('participant')
    const control =
      isParticipant && this.preload.type === 'library'
        ? new PreloadControl(join(this.folder, `${name}.control`))
        : null
    await control?.create()
    const log = createWriteStream(join(this.folder, `${name}.log`), { flags: 'a' })
    this.machines.set(name, {
      ...{ name, port, log, variables, control, detours },
      ...{ build: 'first', running: null },
    })
  }

  private launch(machine: Machine): Promise<RunningWorkerd> {
    const { name, port, variables, control, detours, log, build } = machine
    log.write(`${new Date().toISOString()} starts on the ${build} build\n`)
    return startWorkerd({
      script: this.scripts[build],
      storage: this.storageOf(name),
      port,
      variables: {
        ...variables,
        BATON_PROTOCOL: PROTOCOL_OF[build],
        // What the others call it, and sign their requests for.
        BATON_URL: `http://127.0.0.1:${port}`,
      },
      ...(Object.keys(detours).length > 0 && { detours }),
      ...(control !== null &&
        this.preload.type === 'library' && { environment: control.environment(this.preload.path) }),
      onOutput: line => log.write(`${new Date().toISOString()} ${line}\n`),
    })
  }

  private machine(name: string): Machine {
    return this.machines.get(name)!
  }

  private storageOf(name: string): string {
    return join(this.folder, name)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/**
 * Ports that are free now, below those that the system gives to outgoing connections: while a process is
 * down, nobody else may get its port by chance.
 */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(12_000, 32_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
