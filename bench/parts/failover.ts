/**
 * How long a lock is nobody's when the process of its owner is lost in the critical section: killed, or
 * frozen, which looks like a long pause or a dead network. The time runs from the fault to the next grant, as
 * the next client sees it, which either waited already or asks at the moment of the fault.
 */
import { setTimeout } from 'node:timers/promises'
import { batonLocks } from '../cases/baton.ts'
import { type StartedCluster, startCluster } from '../started.ts'
import { type Spread, spreadOf } from '../statistics.ts'

export const FAULTS = ['killed', 'frozen'] as const
export type Fault = (typeof FAULTS)[number]
export const NEXT_CLIENTS = ['waits already', 'asks then'] as const
export type NextClient = (typeof NEXT_CLIENTS)[number]

export interface FailoverRow {
  readonly fault: Fault
  readonly nextClient: NextClient
  readonly milliseconds: Spread
  readonly worst: number
  readonly times: number
}

const OWNER = 1
const NEXT = 2
const PARTICIPANTS = 3

export async function measureFailover(
  times: number,
  onTime?: (what: string) => void,
): Promise<FailoverRow[]> {
  const running = await startCluster(PARTICIPANTS)
  try {
    const rows: FailoverRow[] = []
    for (const fault of FAULTS) {
      for (const nextClient of NEXT_CLIENTS) {
        const samples: number[] = []
        for (let time = 1; time <= times; time++) {
          samples.push(await failOver(running, fault, nextClient))
          onTime?.(`${fault}, the next client ${nextClient}: ${time}/${times}`)
        }
        const worst = Math.round(Math.max(...samples))
        rows.push({ fault, nextClient, milliseconds: spreadOf(samples.map(Math.round)), worst, times })
      }
    }
    return rows
  } finally {
    await running.stop()
  }
}

/** Participants know each other's round trips by then. */
const WARM = 20
/** The owner is inside, and the next client waits, for so long before the fault. */
const INSIDE_MS = 300

let locks = 0

async function failOver(running: StartedCluster, fault: Fault, nextClient: NextClient): Promise<number> {
  const { cluster, url } = running
  const { acquire, release, write } = batonLocks(url)
  const lock = `failover-${++locks}`
  for (let count = 0; count < WARM; count++)
    await release(lock, await acquire(lock, (count % PARTICIPANTS) + 1))
  const held = await acquire(lock, OWNER)
  await write(lock, held)
  const waiting = nextClient === 'waits already' ? acquire(lock, NEXT) : null
  await setTimeout(INSIDE_MS)
  const began = performance.now()
  if (fault === 'killed') cluster.member(OWNER).process.kill('SIGKILL')
  else cluster.pause(OWNER)
  try {
    const next = await (waiting ?? acquire(lock, NEXT))
    const took = performance.now() - began
    await release(lock, next)
    return took
  } finally {
    await comeBack(running, fault, lock)
  }
}

/** Everybody is there again, and has had the lock, before the next fault. */
async function comeBack({ cluster, url }: StartedCluster, fault: Fault, lock: string): Promise<void> {
  if (fault === 'frozen') cluster.resume(OWNER)
  else {
    await cluster.kill(OWNER)
    await restart(cluster)
  }
  const { acquire, release } = batonLocks(url)
  for (let at = PARTICIPANTS; at >= 1; at--) await release(lock, await acquire(lock, at))
}

/** The port of a process that has just ended may be taken for a moment. */
async function restart(cluster: StartedCluster['cluster']): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await cluster.restart(OWNER)
    } catch (error) {
      if (attempt === 50) throw error
      await setTimeout(100)
    }
  }
}
