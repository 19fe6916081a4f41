/**
 * Real partial failure on one machine: one workerd process for each participant and a router in front of
 * them, all on loopback, each with a storage folder of its own. They reach each other by URL with signed
 * requests, as participants in different accounts would.
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './build.ts'
import { type RunningWorkerd, startWorkerd } from './workerd.ts'

export interface ClusterOptions {
  readonly participants: number
  readonly storage: string
  readonly port?: number
  readonly protocol?: string
  readonly variables?: { readonly [name: string]: string }
  readonly onOutput?: (line: string) => void
  /** For measurements: V8's inspector listens in each process, and `gc()` is there. */
  readonly isInspected?: boolean
}

export class LocalCluster {
  readonly router: RunningWorkerd
  private readonly members: RunningWorkerd[]
  private readonly startMember: (id: number) => Promise<RunningWorkerd>

  private constructor(
    router: RunningWorkerd,
    members: RunningWorkerd[],
    startMember: (id: number) => Promise<RunningWorkerd>,
  ) {
    this.router = router
    this.members = members
    this.startMember = startMember
  }

  static async start(options: ClusterOptions): Promise<LocalCluster> {
    const script = await bundle(fileURLToPath(new URL('../index.ts', import.meta.url)))
    const ports = await freePorts(options.participants)
    const variables = {
      BATON_PARTICIPANTS: JSON.stringify(ports.map(port => ({ url: `http://127.0.0.1:${port}` }))),
      BATON_PEER_SECRET: randomBytes(32).toString('hex'),
      BATON_PROTOCOL: options.protocol ?? 'wme-2',
      ...options.variables,
    }
    const launch = (name: string, port: number, more: { readonly [name: string]: string }) =>
      startWorkerd({
        script,
        storage: join(options.storage, name),
        port,
        variables: { ...variables, ...more },
        onOutput: line => options.onOutput?.(`${name}: ${line}`),
        isInspected: options.isInspected === true,
      })
    // Only the router is open; the participants answer signed requests alone.
    const startMember = (id: number) => launch(`participant-${id}`, ports[id - 1]!, {})
    const members = await Promise.all(ports.map((_, index) => startMember(index + 1)))
    const router = await launch('router', options.port ?? 0, { BATON_OPEN: 'true' })
    return new LocalCluster(router, members, startMember)
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
  }
}

/** Ports that were free a moment ago: each process must know the others' before they run. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer()
          server.once('error', reject)
          server.listen(0, '127.0.0.1', () => resolve(server))
        }),
    ),
  )
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}
