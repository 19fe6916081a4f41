/**
 * What is measured, running. Each subject has processes of its own, so that its processor time, its memory
 * and its writes are its own too; an idle process beside it costs nothing.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../worker/local/build.ts'
import { LocalCluster } from '../worker/local/cluster.ts'
import { serviceScript } from '../worker/local/service-script.ts'
import { startWorkerd } from '../worker/local/workerd.ts'
import type { Subject } from './case.ts'
import { batonCases, batonLocks } from './cases/baton.ts'
import { lockCases } from './cases/lock-cases.ts'
import { plainCases, plainLocks, replicatedWriteCases, type Way } from './cases/plain.ts'
import { PeerRequestCounter, PROCESS } from './peer-requests.ts'

export interface Started {
  readonly url: string
  readonly pids: () => readonly number[]
  stop(): Promise<void>
}

/** One process, whose inspector may listen. */
interface StartedAlone extends Started {
  inspectorPort(): number | null
}

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Whatever it starts lives in a folder that goes with it. */
async function inFolder<Running extends Omit<Started, 'stop'>>(
  start: (storage: string) => Promise<readonly [Running, stop: () => Promise<void>]>,
): Promise<Running & Started> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const [running, end] = await start(join(folder, 'storage'))
  const stop = async () => {
    await end()
    await rm(folder, { recursive: true, force: true })
  }
  return { ...running, stop }
}

export const startYardsticks = (isInspected = false): Promise<StartedAlone> =>
  inFolder(async storage => {
    const running = await startWorkerd({
      script: await bundle(fileOf('yardstick/worker.ts')),
      storage,
      port: 0,
      objects: { PLAIN: 'PlainLock', REPLICA: 'Replica' },
      variables: {},
      isInspected,
    })
    const { url, inspectorPort } = running
    const alone = { url, pids: () => [running.process.pid!], inspectorPort: () => inspectorPort }
    return [alone, () => running.stop('SIGKILL')]
  })

/** Baton's Worker, and the plain object behind it. */
export const startBehindBaton = (): Promise<Started> =>
  inFolder(async storage => {
    const running = await startWorkerd({
      script: await bundle(fileOf('yardstick/behind-baton.ts')),
      storage,
      port: 0,
      objects: { PARTICIPANT: 'PlainParticipant', REPLICA: 'Replica' },
      variables: { BATON_OPEN: 'true', BATON_PARTICIPANTS: JSON.stringify([{}]) },
    })
    return [{ url: running.url, pids: () => [running.process.pid!] }, () => running.stop('SIGKILL')]
  })

export interface StartedBaton extends StartedAlone {
  /** How many requests the participants of a lock have sent each other. */
  requests(lock: string, participants: number): Promise<number>
  /** Stops and starts the process: every object has to be brought back into memory. */
  restart(): Promise<void>
}

/** All participants in one process. */
export const startBaton = (isInspected = false): Promise<StartedBaton> =>
  inFolder(async storage => {
    const secret = randomBytes(32).toString('hex')
    const script = await serviceScript()
    const start = (port: number) =>
      startWorkerd({
        script,
        storage,
        port,
        variables: {
          BATON_OPEN: 'true',
          BATON_PEER_SECRET: secret,
          BATON_URL: PROCESS,
          BATON_PARTICIPANTS: JSON.stringify([{}, {}, {}]),
        },
        isInspected,
      })
    let running = await start(0)
    const baton = {
      url: running.url,
      pids: () => [running.process.pid!],
      inspectorPort: () => running.inspectorPort,
      requests: (lock: string, participants: number) =>
        new PeerRequestCounter(running.url, secret, lock, participants).read(),
      restart: async () => {
        await running.stop('SIGKILL')
        running = await start(running.port)
      },
    }
    return [baton, () => running.stop('SIGKILL')] as const
  })

export interface StartedCluster extends Started {
  readonly cluster: LocalCluster
}

/** Each participant in a process of its own, and the router too. */
export const startCluster = (participants: number): Promise<StartedCluster> =>
  inFolder(async storage => {
    const cluster = await LocalCluster.start({ participants, storage })
    const members = Array.from({ length: participants }, (_, index) => index + 1)
    const pids = () => [cluster.router, ...members.map(id => cluster.member(id))].map(one => one.process.pid!)
    return [{ url: cluster.url, cluster, pids }, () => cluster.stop()] as const
  })

export const PLAIN = 'plain object'
export const FLOOR = {
  2: 'replicated write, both peers asked',
  1: 'replicated write, one peer asked',
} as const

export const plainSubject = ({ url, pids }: Started, manyLocks?: number): Subject => ({
  name: PLAIN,
  participants: 1,
  processes: 'one',
  pids,
  cases: plainCases(url, 'plain', manyLocks),
})

export const floorSubject = ({ url, pids }: Started, asked: 1 | 2): Subject => ({
  name: FLOOR[asked],
  participants: 3,
  processes: 'one',
  pids,
  cases: replicatedWriteCases(url, asked),
})

/** The plain object, whose Worker reads each request and writes another one. */
export const readingSubject = (
  { url, pids }: Started,
  name: string,
  way: Way,
  manyLocks?: number,
): Subject => ({
  name,
  participants: 1,
  processes: 'one',
  pids,
  cases: lockCases(plainLocks(url, way), way, manyLocks),
})

export const behindBatonSubject = (
  { url, pids }: Started,
  name: string,
  isReplicated: boolean,
  manyLocks?: number,
): Subject => {
  const cases = lockCases(batonLocks(url), isReplicated ? 'replicated' : 'behind', manyLocks)
  const replicated = { 'one operation': cases['one operation']! }
  return { name, participants: 1, processes: 'one', pids, cases: isReplicated ? replicated : cases }
}

export async function batonSubject(
  baton: StartedBaton,
  protocol: string,
  participants: number,
  manyLocks?: number,
): Promise<Subject> {
  const name = `${protocol}-${participants}`
  await batonLocks(baton.url).configure(`${name}-lock`, protocol, participants)
  const requests = (lock: string) => baton.requests(lock, participants)
  const cases = batonCases(baton.url, name, participants, { requests, manyLocks })
  return { name: protocol, participants, processes: 'one', pids: baton.pids, cases }
}

export const clusterSubject = (
  { url, pids }: StartedCluster,
  participants: number,
  manyLocks?: number,
): Subject => ({
  name: 'wme-2',
  participants,
  processes: 'each',
  pids,
  cases: batonCases(url, 'each', participants, { manyLocks }),
})
