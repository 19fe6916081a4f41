/**
 * One run: a cluster, a good client, and thousands of bad requests at its router and at a participant's own
 * port. Each request is made from the seed and its number alone, so that a finding can be sent again.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalCluster } from '../../worker/local/cluster.ts'
import type { RunningWorkerd } from '../../worker/local/workerd.ts'
import { sleep } from '../service/eventually.ts'
import { Random } from '../simulator/random.ts'
import { GoodClient } from './good-client.ts'
import { type FuzzRequest, rawRequest, routeRequest } from './http-requests.ts'
import { type Memory, memoryOf, residentMB } from './memory.ts'
import { peerRequest } from './peer-requests.ts'
import { type Sent, send } from './send.ts'
import { type SocketRequest, socketRequest } from './socket-requests.ts'

export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  /** The number of the first request. */
  readonly first: number
  readonly print: (line: string) => void
}

export interface Finding {
  readonly number: number
  readonly target: Target
  readonly kind: string
  readonly what: '500' | 'hang'
  readonly bytes: Buffer
}

export interface FuzzResult {
  readonly requests: number
  readonly status500: number
  readonly hangs: number
  /** Of all processes together: when they have started, after a part of the requests, and after all. */
  readonly fresh: Memory
  readonly before: Memory
  readonly after: Memory
  /** What `after` may be. */
  readonly limit: Memory
  readonly goodClientErrors: readonly string[]
  readonly findings: readonly Finding[]
  /** Answers by their status; `none` for a connection that was closed. */
  readonly answers: { readonly [status: string]: number }
}

type Target = 'service' | 'participant'

const AT_ONCE = 24
const PROGRESS_EVERY = 2_000
/**
 * A part of the requests is sent before memory is measured for the first time: code that never ran is not
 * compiled, caches are empty, and a comparison with a fresh process would say nothing. But what is lost with
 * each request goes on growing with the rest of them, which is three times as many.
 */
const WARM_UP = 0.25
/** Objects that nobody uses are evicted after about 10 s; tickets and connections end. */
const COOLING_MS = 15_000
const LONGEST_COOLING_MS = 60_000
/**
 * Memory counts as returned within this. The heap is what is in use after a collection: a quarter and 4 MB
 * more are for code that is compiled later and for what the good client's lock keeps; a leak of 1 KB for each
 * request is beyond it. In the resident set a third is for what V8 and SQLite keep for the next time, and 16
 * MB for each of the four processes, which is one more page of young objects.
 */
const tolerated = ({ heapMB, rssMB }: Memory): Memory => ({
  heapMB: Math.round(heapMB * 1.25) + 4,
  rssMB: Math.round(rssMB * 1.33) + 64,
})

const isWithin = (memory: Memory, limit: Memory): boolean =>
  memory.heapMB <= limit.heapMB && memory.rssMB <= limit.rssMB

export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-fuzz-'))
  const cluster = await LocalCluster.start({ participants: 3, storage: folder, isInspected: true })
  const processes = [cluster.router, ...[1, 2, 3].map(id => cluster.member(id))]
  const onExit = () => {
    for (const { process: child } of processes) child.kill('SIGKILL')
  }
  process.once('exit', onExit)
  try {
    const ports = { service: cluster.router.port, participant: cluster.member(1).port }
    return await new Fuzz(options, ports, processes, cluster.url).perform()
  } finally {
    await cluster.stop()
    process.off('exit', onExit)
    await rm(folder, { recursive: true, force: true })
  }
}

class Fuzz {
  private readonly options: FuzzOptions
  private readonly ports: { readonly [Name in Target]: number }
  private readonly processes: readonly RunningWorkerd[]
  private readonly url: string
  private readonly findings: Finding[] = []
  private readonly answers: { [status: string]: number } = {}
  private sent = 0

  constructor(
    options: FuzzOptions,
    ports: { readonly [Name in Target]: number },
    processes: readonly RunningWorkerd[],
    url: string,
  ) {
    this.options = options
    this.ports = ports
    this.processes = processes
    this.url = url
  }

  async perform(): Promise<FuzzResult> {
    const { requests, seed, first } = this.options
    const fresh = await memoryOf(this.processes)
    const client = new GoodClient(this.url)
    const warmUp = Math.floor(requests * WARM_UP)
    await this.sendAll(seed, first, warmUp)
    if (warmUp > 0) await sleep(COOLING_MS)
    const before = await memoryOf(this.processes)
    await this.sendAll(seed, first + warmUp, requests - warmUp)
    const limit = tolerated(before)
    const after = await this.coolDown(limit)
    await client.stop()
    return {
      requests,
      status500: this.findings.filter(({ what }) => what === '500').length,
      hangs: this.findings.filter(({ what }) => what === 'hang').length,
      ...{ fresh, before, after, limit },
      goodClientErrors: client.errors,
      findings: this.findings,
      answers: this.answers,
    }
  }

  private async sendAll(seed: number, first: number, count: number): Promise<void> {
    let next = first
    const sender = async (): Promise<void> => {
      while (next < first + count) {
        await this.sendOne(seed, next++)
        if (++this.sent % PROGRESS_EVERY === 0) await this.tell()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sender))
  }

  private async sendOne(seed: number, number: number): Promise<void> {
    const { target, request } = makeRequest(seed, number)
    const { bytes, isComplete, kind } = request
    const frames = 'frames' in request ? { frames: request.frames } : {}
    const sent: Sent = await send({ port: this.ports[target], bytes, isComplete, ...frames })
    const status = sent.status ?? 'none'
    this.answers[status] = (this.answers[status] ?? 0) + 1
    if (sent.status !== 500 && !sent.isHung) return
    this.findings.push({ number, target, kind, what: sent.isHung ? 'hang' : '500', bytes })
  }

  private async tell(): Promise<void> {
    const { length } = this.findings
    this.options.print(`${this.sent} requests, ${length} findings, ${await residentMB(this.processes)} MB`)
  }

  private async coolDown(limit: Memory): Promise<Memory> {
    const until = Date.now() + LONGEST_COOLING_MS
    await sleep(COOLING_MS)
    let memory = await memoryOf(this.processes)
    while (!isWithin(memory, limit) && Date.now() < until) {
      await sleep(1_000)
      memory = await memoryOf(this.processes)
    }
    return memory
  }
}

export function makeRequest(
  seed: number,
  number: number,
): { readonly target: Target; readonly request: FuzzRequest | SocketRequest } {
  const random = new Random(seed, number)
  const target = random.chance(0.7) ? 'service' : 'participant'
  if (target === 'participant' && random.chance(0.7)) return { target, request: peerRequest(random) }
  const make = random.pick([routeRequest, routeRequest, routeRequest, rawRequest, socketRequest])
  return { target, request: make(random) }
}

export function isGood(result: FuzzResult): boolean {
  const { status500, hangs, goodClientErrors, after, limit } = result
  return status500 === 0 && hangs === 0 && goodClientErrors.length === 0 && isWithin(after, limit)
}
