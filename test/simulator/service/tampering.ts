/** How tests break the service or its platform, to see that a run notices. A sound run has none of it. */
import type { Runtime } from '../../../worker/participant/runtime.ts'
import type { Entries } from './entries.ts'
import type { SimRequest, SimResponse } from './http.ts'
import type { SimObject } from './sim-object.ts'

export interface Tampering {
  /** What a participant gets as its runtime. */
  readonly runtime?: (runtime: Runtime, object: SimObject) => Runtime
  /** What the platform gets as its participant. */
  readonly entries?: (entries: Entries, object: SimObject) => Entries
  /** What a client gets as the router's answer. */
  readonly response?: (request: SimRequest, response: SimResponse) => Promise<SimResponse>
  /** Nothing waits for what was written before it to be durable. */
  readonly withoutOutputGates?: boolean
  /** A disk that lies: what it called durable is lost in a crash all the same. */
  readonly lyingDisk?: boolean
}

/** An instance is an object of a class; what stands for it must have its methods as its own. */
export const bound = (runtime: Runtime): Runtime => ({
  rows: runtime.rows,
  alarm: runtime.alarm,
  timeout: runtime.timeout,
  peers: runtime.peers,
  sockets: runtime.sockets,
  now: () => runtime.now(),
  random: () => runtime.random(),
  randomId: () => runtime.randomId(),
  background: work => runtime.background(work),
  abort: reason => runtime.abort(reason),
  log: entry => runtime.log(entry),
})
