/**
 * Threads that do jobs. A job that does not end cannot be stopped from within: the main thread watches, ends
 * the thread, and reports which seed it was.
 */
import { Worker } from 'node:worker_threads'
import type { Answer, Job } from './jobs.ts'

/** No sound run takes that long, and shrinking has a budget. */
const STUCK_MS = { run: 60_000, shrink: 300_000 } as const
const LOOK_EVERY_MS = 1_000

const stuckMs = ({ type }: Job): number => (type.startsWith('shrink') ? STUCK_MS.shrink : STUCK_MS.run)

/** Thrown by a job that had to be ended. */
export class Stuck extends Error {
  readonly seed: number

  constructor(seed: number) {
    super(`seed ${seed} does not come to an end`)
    this.seed = seed
  }
}

export class CrewMember {
  #worker: Worker | null = null
  #progress = new Float64Array(new SharedArrayBuffer(16))

  async perform(job: Job): Promise<Answer> {
    this.#worker ??= this.#hire()
    const worker = this.#worker
    return new Promise((resolve, reject) => {
      let last = -1
      let since = Date.now()
      const watch = setInterval(() => {
        const seeds = this.#progress[1]!
        if (seeds !== last) {
          last = seeds
          since = Date.now()
        } else if (Date.now() - since > stuckMs(job)) {
          end()
          this.dismiss()
          reject(new Stuck(this.#progress[0]!))
        }
      }, LOOK_EVERY_MS)
      const onMessage = (answer: Answer) => {
        end()
        resolve(answer)
      }
      const onError = (error: unknown) => {
        end()
        this.dismiss()
        reject(error)
      }
      const end = () => {
        clearInterval(watch)
        worker.off('message', onMessage)
        worker.off('error', onError)
      }
      worker.on('message', onMessage)
      worker.on('error', onError)
      worker.postMessage(job)
    })
  }

  #hire(): Worker {
    this.#progress = new Float64Array(new SharedArrayBuffer(16))
    return new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { progress: this.#progress.buffer },
      // Almost everything that a run makes is garbage soon: a large nursery saves a tenth of the time.
      resourceLimits: { maxYoungGenerationSizeMb: 64 },
    })
  }

  dismiss(): void {
    void this.#worker?.terminate()
    this.#worker = null
  }
}
