/** Searches for one protocol, on a thread of its own, one rung of the ladder after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Rung } from './ladder.ts'
import { type ExploredName, explore } from './models.ts'
import { outcomeOf, type RungOutcome } from './report.ts'
import type { SearchProgress } from './search.ts'

export interface WorkerTask {
  readonly protocol: ExploredName
  readonly rungs: readonly Rung[]
  /** For all rungs together. */
  readonly seconds: number
  /** For each search, without the heap. */
  readonly bytes: number
}

export type WorkerMessage =
  | { readonly type: 'progress'; readonly rung: string; readonly progress: SearchProgress }
  | { readonly type: 'outcome'; readonly outcome: RungOutcome }

/** The whole bound gets at least this part of the time, whatever the rungs below it need. */
const PART_OF_WHOLE = 0.4
const REPORT_EVERY_MS = 5_000

function run({ protocol, rungs, seconds, bytes }: WorkerTask): void {
  const started = performance.now()
  const post = (message: WorkerMessage) => parentPort!.postMessage(message)
  for (const rung of rungs) {
    const used = (performance.now() - started) / 1000
    const left = (rung.isWhole ? seconds : seconds * (1 - PART_OF_WHOLE)) - used
    // A rung that there is no time for is not begun.
    if (left <= 0) continue
    let reported = performance.now()
    const result = explore(protocol, rung.bound, {
      seconds: left,
      bytes,
      onProgress: progress => {
        if (performance.now() - reported < REPORT_EVERY_MS) return
        reported = performance.now()
        post({ type: 'progress', rung: rung.name, progress })
      },
    })
    post({ type: 'outcome', outcome: outcomeOf(rung, result) })
    if (result.violation !== null || (rung.isWhole && !result.complete)) return
  }
}

run(workerData as WorkerTask)
