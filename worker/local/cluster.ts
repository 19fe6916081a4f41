/**
 * Real partial failure on one machine: one workerd process for each participant and a router in front of
 * them, all on loopback, each with a storage folder of its own. They reach each other by URL with signed
 * requests, as participants in different accounts would.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { keptPorts } from './ports.ts'
import { serviceScript } from './service-script.ts'
import { lockStorage, type StorageLock } from './storage-lock.ts'
import { checkVariables } from './variables.ts'
import { type RunningWorkerd, startWorkerd } from './workerd.ts'

export interface ClusterOptions {
  readonly participants: number
  /** What the processes run. Default: the service. */
  readonly script?: string
  readonly storage: string
  readonly port?: number
  readonly protocol?: string
  readonly variables?: { readonly [name: string]: string }
  /** The folder of the built page, for the router. */
  readonly assets?: string | undefined
  readonly onOutput?: (line: string) => void
  /** For measurements: V8's inspector listens in each process, and `gc()` is there. */
  readonly isInspected?: boolean
}

export class LocalCluster {
  readonly router: RunningWorkerd
  private readonly members: RunningWorkerd[]
  private readonly startMember: (id: number) => Promise<RunningWorkerd>
  private readonly lock: StorageLock

  private constructor(
    [router, ...members]: readonly RunningWorkerd[],
    startMember: (id: number) => Promise<RunningWorkerd>,
    lock: StorageLock,
  ) {
    this.router = router!
    this.members = members
    this.startMember = startMember
    this.lock = lock
  }

  static async start(options: ClusterOptions): Promise<LocalCluster> {
    const lock = await lockStorage(options.storage)
    try {
      return await LocalCluster.launch(options, lock)
    } catch (error) {
      lock.release()
      throw error
    }
  }

  private static async launch(options: ClusterOptions, lock: StorageLock): Promise<LocalCluster> {
    const ports = await keptPorts(join(options.storage, 'ports.json'), options.participants)
    const variables = {
      BATON_PARTICIPANTS: JSON.stringify(ports.map(port => ({ url: `http://127.0.0.1:${port}` }))),
      BATON_PEER_SECRET: randomBytes(32).toString('hex'),
      BATON_PROTOCOL: options.protocol ?? 'wme-2',
      ...options.variables,
    }
    checkVariables(variables, line => options.onOutput?.(line))
    const script = options.script ?? (await serviceScript())
    const start = (
      name: string,
      port: number,
      more: { readonly [name: string]: string },
      assets?: string | undefined,
    ) =>
      startWorkerd({
        script,
        storage: join(options.storage, name),
        port,
        assets,
        variables: { ...variables, ...more },
        onOutput: line => options.onOutput?.(`${name}: ${line}`),
        isInspected: options.isInspected === true,
      })
    // Only the router is open; the participants answer signed requests alone.
    const startMember = (id: number) => start(`participant-${id}`, ports[id - 1]!, {})
    const starting = [
      start('router', options.port ?? 0, { BATON_OPEN: 'true' }, options.assets),
      ...ports.map((_, index) => startMember(index + 1)),
    ]
    const started = await allOrNone(starting)
    return new LocalCluster(started, startMember, lock)
  }

  get url(): string {
    return this.router.url
  }

  get participants(): number {
    return this.members.length
  }

  member(id: number): RunningWorkerd {
    return this.members[id - 1]!
  }

  /** As if the power went: nothing is flushed, nothing is said. */
  async kill(id: number): Promise<void> {
    await this.member(id).stop('SIGKILL')
  }

  async restart(id: number): Promise<void> {
    this.members[id - 1] = await this.startMember(id)
  }

  /** The process stands still, as behind a long pause or a dead network. */
  pause(id: number): void {
    this.member(id).process.kill('SIGSTOP')
  }

  resume(id: number): void {
    this.member(id).process.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    await Promise.all([this.router, ...this.members].map(process => process.stop('SIGKILL').catch(() => {})))
    this.lock.release()
  }
}

async function allOrNone(starting: readonly Promise<RunningWorkerd>[]): Promise<RunningWorkerd[]> {
  try {
    return await Promise.all(starting)
  } catch (error) {
    for (const outcome of await Promise.allSettled(starting)) {
      if (outcome.status === 'fulfilled') await outcome.value.stop('SIGKILL')
    }
    throw error
  }
}
