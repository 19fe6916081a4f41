/**
 * Starts three servers of etcd and of ZooKeeper on this machine, if they are installed, with their default
 * settings, which sync every write to the disk. What is missing is said, with how to install it.
 */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startToEndWithLauncher } from '../../worker/local/leave-nobody.ts'
import { freePortFrom } from '../../worker/local/ports.ts'
import type { Subject } from '../case.ts'
import { lockCases, movingCases } from '../cases/lock-cases.ts'
import { etcdLocks } from './etcd.ts'
import { zooKeeperLocks } from './zookeeper.ts'
import { ZooKeeperClient } from './zookeeper-client.ts'

export interface StartedPeer {
  readonly subject: Subject
  stop(): Promise<void>
}

const SERVERS = [1, 2, 3]
const STARTING_MS = 60_000

/** `null` if it is not installed. */
export async function startEtcd(): Promise<StartedPeer | null> {
  const etcd = process.env.ETCD ?? 'etcd'
  if (spawnSync(etcd, ['--version'], { stdio: 'ignore' }).status !== 0) return null
  const ports = await freePorts(2 * SERVERS.length)
  const client = (id: number) => `http://127.0.0.1:${ports[id - 1]}`
  const peer = (id: number) => `http://127.0.0.1:${ports[SERVERS.length + id - 1]}`
  const members = SERVERS.map(id => `n${id}=${peer(id)}`).join(',')
  const servers = await Servers.start('etcd', (id, folder) => [
    etcd,
    ['--name', `n${id}`, '--data-dir', folder, '--initial-cluster', members],
    ['--listen-client-urls', client(id), '--advertise-client-urls', client(id)],
    ['--listen-peer-urls', peer(id), '--initial-advertise-peer-urls', peer(id)],
  ])
  await servers.until(() => Promise.all(SERVERS.map(id => isHealthy(`${client(id)}/health`))))
  const service = etcdLocks(SERVERS.map(client))
  return { subject: servers.subject('etcd', service), stop: () => servers.stop() }
}

async function isHealthy(url: string): Promise<void> {
  const { health } = (await (await fetch(url)).json()) as { health: string }
  if (health !== 'true') throw new Error(`${url} says ${health}`)
}

/** Where ZooKeeper's own archive was unpacked, or where Debian puts it. */
function zooKeeperClassPath(): string | null {
  const home = process.env.ZOOKEEPER_HOME
  if (home !== undefined) return existsSync(join(home, 'lib')) ? join(home, 'lib', '*') : null
  const debian = '/usr/share/java'
  return existsSync(join(debian, 'zookeeper.jar')) ? join(debian, '*') : null
}

/** `null` if it is not installed. */
export async function startZooKeeper(): Promise<StartedPeer | null> {
  const classPath = zooKeeperClassPath()
  if (classPath === null || spawnSync('java', ['-version'], { stdio: 'ignore' }).status !== 0) return null
  const ports = await freePorts(3 * SERVERS.length)
  const port = (id: number, kind: 0 | 1 | 2) => ports[kind * SERVERS.length + id - 1]!
  const members = SERVERS.map(id => `server.${id}=127.0.0.1:${port(id, 1)}:${port(id, 2)}`)
  const settings = (id: number, folder: string): string =>
    [
      'tickTime=2000',
      'initLimit=10',
      'syncLimit=5',
      'admin.enableServer=false',
      `dataDir=${folder}`,
      `clientPort=${port(id, 0)}`,
      ...members,
      '',
    ].join('\n')
  const servers = await Servers.start(
    'zookeeper',
    (_, folder) => [
      'java',
      ['-cp', [classPath, folder].join(delimiter)],
      ['org.apache.zookeeper.server.quorum.QuorumPeerMain', join(folder, 'zoo.cfg')],
    ],
    async (id, folder) => {
      await writeFile(join(folder, 'myid'), String(id))
      await writeFile(join(folder, 'zoo.cfg'), settings(id, folder))
    },
  )
  const clientPorts = SERVERS.map(id => port(id, 0))
  await servers.until(() => Promise.all(clientPorts.map(canConnect)))
  const service = await zooKeeperLocks(clientPorts)
  const stop = async () => {
    service.close()
    await servers.stop()
  }
  return { subject: servers.subject('ZooKeeper', service), stop }
}

async function canConnect(port: number): Promise<void> {
  ;(await ZooKeeperClient.connect(port)).close()
}

type Command = readonly [program: string, ...options: readonly (readonly string[])[]]

class Servers {
  private readonly folder: string
  private readonly children: readonly ChildProcess[]

  private constructor(folder: string, children: readonly ChildProcess[]) {
    this.folder = folder
    this.children = children
  }

  static async start(
    name: string,
    commandOf: (id: number, folder: string) => Command,
    prepare?: (id: number, folder: string) => Promise<void>,
  ): Promise<Servers> {
    const folder = await mkdtemp(join(tmpdir(), `baton-bench-${name}-`))
    const children: ChildProcess[] = []
    for (const id of SERVERS) {
      const own = join(folder, String(id))
      await mkdir(own, { mode: 0o700 })
      await prepare?.(id, own)
      const [program, ...options] = commandOf(id, own)
      const { child, begin } = await startToEndWithLauncher(program, options.flat(), {
        output: ['ignore', 'ignore'],
      })
      begin()
      children.push(child)
    }
    return new Servers(folder, children)
  }

  /** Asks until all of them answer. */
  async until(ask: () => Promise<unknown>): Promise<void> {
    const end = Date.now() + STARTING_MS
    for (;;) {
      try {
        await ask()
        return
      } catch (error) {
        if (Date.now() < end) await setTimeout(200)
        else {
          await this.stop()
          throw error
        }
      }
    }
  }

  subject<Grant>(name: string, service: Parameters<typeof lockCases<Grant>>[0]): Subject {
    return {
      name,
      participants: SERVERS.length,
      processes: 'each',
      pids: () => this.children.map(child => child.pid!),
      cases: withThreeCalls({
        ...lockCases(service, 'bench'),
        ...movingCases(service, 'bench', SERVERS.length),
      }),
    }
  }

  async stop(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Neither has anything like `transact`: its three calls stand beside it. */
const withThreeCalls = (cases: Subject['cases']): Subject['cases'] => ({
  ...cases,
  transact: cases['acquire, operation, release']!,
})

async function freePorts(number: number): Promise<number[]> {
  const ports: number[] = []
  // Away from the range that the system gives to outgoing connections.
  let next = 23_000 + Math.floor(Math.random() * 5_000)
  while (ports.length < number) {
    const port = await freePortFrom(next)
    ports.push(port)
    next = port + 1
  }
  return ports
}

export const HOW_TO_INSTALL = {
  etcd:
    'etcd is not installed, so it is left out. `apt-get install etcd-server` or `brew install etcd` puts it on ' +
    'the PATH; the variable ETCD can name another place',
  ZooKeeper:
    'ZooKeeper is not installed, so it is left out. It needs Java, and either `apt-get install zookeeper`, or its ' +
    'archive from https://zookeeper.apache.org/releases.html, unpacked, with ZOOKEEPER_HOME naming the folder',
} as const
