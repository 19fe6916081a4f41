/** A thread that does one job after the other. `progress` always shows which seed is running. */
import { parentPort, workerData } from 'node:worker_threads'
import { doJob, type Job } from './jobs.ts'

const progress = new Float64Array((workerData as { readonly progress: SharedArrayBuffer }).progress)

parentPort!.on('message', async (job: Job) => {
  const answer = await doJob(job, seed => {
    progress[0] = seed
    progress[1]!++
  })
  parentPort!.postMessage(answer)
})
