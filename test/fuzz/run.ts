/**
 * One run: a cluster, a good client, and thousands of bad requests at its router and at a participant's own port. Each request is
 * made from the seed and its number alone, so that a finding can be sent again.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalCluster } from '../../worker/local/cluster.ts'
import { sleep } from '../service/eventually.ts'
import { Random } from '../simulator/random.ts'
import { GoodClient } from './good-client.ts'
import { type FuzzRequest, rawRequest, routeRequest } from './http-requests.ts'
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
  readonly seed: number
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
  readonly rssBeforeMB: number
  readonly rssAfterMB: number
  readonly rssLimitMB: number
  readonly goodClientErrors: readonly string[]
  readonly findings: readonly Finding[]
  /** Answers by their status; `none` for a connection that was closed. */
  readonly answers: { readonly [status: string]: number }
}

type Target = 'service' | 'participant'

const AT_ONCE = 24
const PROGRESS_EVERY = 2_000
/** Sent before memory is measured: what is made once for each kind of request is no leak. */
const WARM_UP_REQUESTS = 400
/** Objects that nobody uses are evicted after about 10 s; tickets and connections end, and the heap is collected. */
const LONGEST_COOLING_MS = 60_000
/**
 * Memory counts as returned within this. V8 keeps a heap that has grown, and the allocator keeps pages: about half of what
 * four processes have at the start. A leak of 8 KB for each of 20,000 requests is beyond it.
 */
const TOLERATED_GROWTH = 0.5

export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-fuzz-'))
  const cluster = await LocalCluster.start({ participants: 3, storage: folder })
  const processes = [cluster.router, ...[1, 2, 3].map(id => cluster.member(id))].map(({ process }) => process)
  const onExit = () => {
    for (const child of processes) child.kill('SIGKILL')
  }
  process.once('exit', onExit)
  try {
    const ports = { service: cluster.router.port, participant: cluster.member(1).port }
    const pids = processes.map(({ pid }) => pid!)
    return await new Fuzz(options, ports, pids, cluster.url).perform()
  } finally {
    await cluster.stop()
    process.off('exit', onExit)
    await rm(folder, { recursive: true, force: true })
  }
}

class Fuzz {
  private readonly options: FuzzOptions
  private readonly ports: { readonly [Name in Target]: number }
  private readonly pids: readonly number[]
  private readonly url: string
  private readonly findings: Finding[] = []
  private readonly answers: { [status: string]: number } = {}

  constructor(
    options: FuzzOptions,
    ports: { readonly [Name in Target]: number },
    pids: readonly number[],
    url: string,
  ) {
    this.options = options
    this.ports = ports
    this.pids = pids
    this.url = url
  }

  async perform(): Promise<FuzzResult> {
    const { requests, seed, first, print } = this.options
    const client = new GoodClient(this.url)
    // Of another seed, so that what is sent does not depend on it; what it finds counts all the same.
    if (requests > 1) await this.sendAll(seed + 1, 0, WARM_UP_REQUESTS)
    const rssBeforeMB = await this.rss()
    for (let sent = 0; sent < requests; sent += PROGRESS_EVERY) {
      await this.sendAll(seed, first + sent, Math.min(PROGRESS_EVERY, requests - sent))
      const { length } = this.findings
      print(
        `${Math.min(sent + PROGRESS_EVERY, requests)} requests, ${length} findings, ${await this.rss()} MB`,
      )
    }
    const rssLimitMB = Math.round(rssBeforeMB * (1 + TOLERATED_GROWTH))
    const rssAfterMB = await this.coolDown(rssLimitMB)
    await client.stop()
    return {
      requests: requests > 1 ? requests + WARM_UP_REQUESTS : requests,
      status500: this.findings.filter(({ what }) => what === '500').length,
      hangs: this.findings.filter(({ what }) => what === 'hang').length,
      ...{ rssBeforeMB, rssAfterMB, rssLimitMB },
      goodClientErrors: client.errors,
      findings: this.findings,
      answers: this.answers,
    }
  }

  private async sendAll(seed: number, first: number, count: number): Promise<void> {
    let next = first
    const sender = async (): Promise<void> => {
      while (next < first + count) await this.sendOne(seed, next++)
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
    this.findings.push({ seed, number, target, kind, what: sent.isHung ? 'hang' : '500', bytes })
  }

  private async coolDown(limitMB: number): Promise<number> {
    const until = Date.now() + LONGEST_COOLING_MS
    let rss = await this.rss()
    while (rss > limitMB && Date.now() < until) {
      await sleep(1_000)
      rss = await this.rss()
    }
    return rss
  }

  /** Of all processes together. */
  private async rss(): Promise<number> {
    const texts = await Promise.all(
      this.pids.map(pid => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')),
    )
    const kilobytes = texts.map(text => Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0))
    return Math.round(kilobytes.reduce((sum, one) => sum + one, 0) / 1_024)
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
  const { status500, hangs, goodClientErrors, rssAfterMB, rssLimitMB } = result
  return status500 === 0 && hangs === 0 && goodClientErrors.length === 0 && rssAfterMB <= rssLimitMB
}
