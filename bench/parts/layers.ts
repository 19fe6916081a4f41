/**
 * What stands between the plain object and Baton, one layer after the other, in turns as everything that is
 * timed: a Worker that reads its requests, Baton's own Worker in front of the same object, and Baton.
 */
import type { CaseName } from '../case.ts'
import { measure, type Rounds, type Row } from '../measure.ts'
import {
  batonSubject,
  behindBatonSubject,
  plainSubject,
  readingSubject,
  type Started,
  startBaton,
  startBehindBaton,
  startYardsticks,
} from '../started.ts'

export const LAYERS = {
  anew: 'a Worker that reads each request and writes another one',
  rpc: 'a Worker that reads each request and calls the object by RPC',
  worker: "Baton's Worker, and the plain object behind it",
  replicated: "Baton's Worker, and a plain object that one peer copies",
} as const

const LAYERED: readonly CaseName[] = [
  'acquire and release',
  'one operation',
  '10 clients at one participant',
  '50 clients on 100 locks',
]

export interface LayersOptions extends Rounds {
  readonly manyLocks?: number | undefined
}

export async function measureLayers(options: LayersOptions): Promise<Row[]> {
  const { manyLocks } = options
  const started: Started[] = []
  const start = async <Running extends Started>(starting: Promise<Running>): Promise<Running> => {
    const running = await starting
    started.push(running)
    return running
  }
  try {
    const yardsticks = await start(startYardsticks())
    const behind = await start(startBehindBaton())
    const subjects = [
      readingSubject(yardsticks, LAYERS.anew, 'anew', manyLocks),
      readingSubject(yardsticks, LAYERS.rpc, 'rpc', manyLocks),
      behindBatonSubject(behind, LAYERS.worker, false, manyLocks),
      behindBatonSubject(behind, LAYERS.replicated, true),
      await batonSubject(await start(startBaton()), 'wme-2', 3, manyLocks),
    ]
    return await measure(plainSubject(yardsticks, manyLocks), subjects, LAYERED, options)
  } finally {
    for (const running of started) await running.stop()
  }
}
