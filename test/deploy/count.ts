/**
 * Counts what one lock cycle costs, on the real runtime, in the units that Cloudflare bills (see
 * docs/deploy.md):
 *
 *   node test/deploy/count.ts
 *   node test/deploy/count.ts --before 13000 --cycles 2500     once the lock forgets as much as it remembers
 *   node test/deploy/count.ts --events-kept 0                  without a history
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from '../../worker/local/build.ts'
import { startWorkerd } from '../../worker/local/workerd.ts'

/** Of one cycle, on average, all participants together. */
export interface Cost {
  readonly router: number
  readonly calls: number
  readonly peers: number
  readonly alarms: number
  readonly rowsWritten: number
  readonly alarmsSet: number
  readonly rowsRead: number
  /** Objects that were brought back into memory. */
  readonly made: number
}

interface Counts {
  readonly router: number
  readonly objects: { readonly [name: string]: { readonly [unit: string]: number } }
}

const CYCLES = ['transact', 'threeCalls'] as const
export type Costs = { readonly [pattern: string]: Cost }

/**
 * A lock that is used once in a while: cycles on several locks, each of which was idle before and is idle
 * after.
 */
export const countApart = (locks: number): Promise<Costs> =>
  withService(async url => {
    const used = Array.from(
      { length: locks },
      (_, index) => new CountedLock(`${url}/v1/locks/apart-${index}`),
    )
    for (const lock of used) await lock.transact()
    const costs: { [pattern: string]: Cost } = {}
    for (const cycle of CYCLES) {
      const from = await countsWhenIdle(url)
      for (const lock of used) await lock[cycle]()
      costs[`${cycle}, apart`] = average(from, await countsWhenIdle(url), locks)
    }
    return costs
  })

/** A lock that is always in use. */
export const countInARow = (number: number, before: number): Promise<Costs> =>
  withService(async url => {
    const lock = new CountedLock(`${url}/v1/locks/in-a-row`)
    for (let i = 0; i < before; i++) await lock.transact()
    const costs: { [pattern: string]: Cost } = {}
    for (const cycle of CYCLES) {
      const from = await countsWhenIdle(url)
      for (let i = 0; i < number; i++) await lock[cycle]()
      costs[`${cycle}, in a row`] = average(from, await countsWhenIdle(url), number)
    }
    for (const cycle of CYCLES) {
      const woken: Cost[] = []
      for (let i = 0; i < WOKEN; i++) {
        await setTimeout(EVICTED_MS)
        const from = await countsWhenIdle(url)
        await lock[cycle]()
        woken.push(average(from, await countsWhenIdle(url), 1))
      }
      costs[`${cycle}, woken`] = mean(woken)
    }
    return costs
  })

const variables: { [name: string]: string } = { BATON_OPEN: 'true' }

async function withService(count: (url: string) => Promise<Costs>): Promise<Costs> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-count-'))
  const script = await bundle(fileURLToPath(new URL('counting-worker.mjs', import.meta.url)))
  const storage = join(folder, 'storage')
  const running = await startWorkerd({ script, storage, port: 0, variables })
  try {
    return await count(running.url)
  } finally {
    await running.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

class CountedLock {
  private readonly url: string
  private operations = 0

  constructor(url: string) {
    this.url = url
  }

  async transact(): Promise<void> {
    await this.send('POST', 'transact', { ...this.operation(), at: 1 })
  }

  async threeCalls(): Promise<void> {
    const { grant } = (await this.send('POST', 'acquire', { at: 1 })) as { grant: { id: string } }
    await this.send('POST', `grants/${grant.id}/ops`, this.operation())
    await this.send('DELETE', `grants/${grant.id}`)
  }

  private operation() {
    return { opId: `op-${++this.operations}`, ops: [{ increment: 'visits' }] }
  }

  private async send(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}/${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
}

/** Nothing more comes: longer than the longest timer of a lock that nobody holds. */
const IDLE_MS = 1_500

/** The runtime throws an object out of memory after 10 s without anything to do. */
const EVICTED_MS = 15_000
const WOKEN = 3

async function countsWhenIdle(url: string): Promise<Counts> {
  let last = ''
  for (;;) {
    await setTimeout(IDLE_MS)
    const text = await (await fetch(`${url}/counts`)).text()
    if (text === last) return JSON.parse(text) as Counts
    last = text
  }
}

function average(from: Counts, to: Counts, number: number): Cost {
  const sum = ({ objects }: Counts, unit: string) =>
    Object.values(objects).reduce((total, object) => total + (object[unit] ?? 0), 0)
  const each = (unit: string) => (sum(to, unit) - sum(from, unit)) / number
  return {
    router: (to.router - from.router) / number,
    calls: each('call'),
    peers: each('peer'),
    alarms: each('alarm'),
    rowsWritten: each('rowsWritten'),
    alarmsSet: each('setAlarm'),
    rowsRead: each('rowsRead'),
    made: each('made'),
  }
}

function mean(costs: readonly Cost[]): Cost {
  const units = Object.keys(costs[0]!) as (keyof Cost)[]
  const sum = (unit: keyof Cost) => costs.reduce((total, cost) => total + cost[unit], 0)
  return Object.fromEntries(units.map(unit => [unit, sum(unit) / costs.length])) as unknown as Cost
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      before: { type: 'string', default: '10' },
      cycles: { type: 'string', default: '200' },
      'events-kept': { type: 'string', default: '10000' },
    },
  })
  variables.BATON_EVENTS_KEPT = values['events-kept']
  const inARow = await countInARow(Number(values.cycles), Number(values.before))
  console.table({ ...(await countApart(20)), ...inARow })
}
