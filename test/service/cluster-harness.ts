/**
 * Real partial failure: a cluster of one process for each participant, with a router in front. See
 * harness.ts.
 */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { LocalCluster } from '../../worker/local/cluster.ts'
import { eventually } from './eventually.ts'
import { type JudgedLocks, TEST_LIMIT_MS } from './harness.ts'
import { Histories } from './histories.ts'
import { TestLock } from './lock.ts'

export const PEER_SECRET = 'the secret of the peers'

export class TestCluster implements JudgedLocks {
  readonly histories = new Histories(() => this.url)
  readonly output: string[] = []
  readonly size: number
  private readonly down = new Set<number>()
  private readonly protocol: string
  private folder = ''
  private running: LocalCluster | null = null
  private locks = 0

  constructor(size: number, protocol: string) {
    this.size = size
    this.protocol = protocol
  }

  async start(): Promise<void> {
    this.folder = await mkdtemp(join(tmpdir(), 'baton-test-'))
    this.running = await LocalCluster.start({
      participants: this.size,
      storage: this.folder,
      protocol: this.protocol,
      // The histories are judged as a whole, so nothing of them may be forgotten.
      variables: { BATON_PEER_SECRET: PEER_SECRET, BATON_EVENTS_KEPT: '1000000' },
      onOutput: line => this.output.push(line),
    })
    process.once('exit', () => {
      for (const { process: child } of [this.cluster.router, ...this.members]) child.kill('SIGKILL')
    })
  }

  private get cluster(): LocalCluster {
    return this.running!
  }

  private get members() {
    return Array.from({ length: this.size }, (_, index) => this.cluster.member(index + 1))
  }

  get url(): string {
    return this.cluster.url
  }

  urlOf(participant: number): string {
    return this.cluster.member(participant).url
  }

  /** Resident bytes of the process of a participant. */
  memoryOf(participant: number): number {
    const { pid } = this.cluster.member(participant).process
    return 1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
  }

  get participants(): number[] {
    return Array.from({ length: this.size }, (_, index) => index + 1)
  }

  get up(): number[] {
    return this.participants.filter(participant => !this.down.has(participant))
  }

  lock(): TestLock {
    const name = `lock-${++this.locks}`
    this.histories.add(name)
    return new TestLock(name, () => this.url)
  }

  /** `kill -9` of these processes, all at once. */
  async kill(...participants: readonly number[]): Promise<void> {
    for (const participant of participants) this.down.add(participant)
    await Promise.all(participants.map(participant => this.cluster.kill(participant)))
  }

  async restart(...participants: readonly number[]): Promise<void> {
    // The port of a process that has just ended may be taken for a moment.
    for (const participant of participants) {
      await eventually(() => this.cluster.restart(participant))
      this.down.delete(participant)
    }
  }

  async restartAll(): Promise<void> {
    await this.restart(...this.down)
  }

  pause(participant: number): void {
    this.cluster.pause(participant)
  }

  resume(participant: number): void {
    this.cluster.resume(participant)
  }

  /** Everything that the participant knew is gone. It must not run meanwhile. */
  async wipe(participant: number): Promise<void> {
    await rm(join(this.folder, `participant-${participant}`), { recursive: true, force: true })
  }

  async remove(): Promise<void> {
    await this.running?.stop()
    await rm(this.folder, { recursive: true, force: true })
  }
}

export function useCluster(size: number, protocol = 'wme-2'): TestCluster {
  const cluster = new TestCluster(size, protocol)
  beforeAll(() => cluster.start(), TEST_LIMIT_MS)
  afterAll(() => cluster.remove(), TEST_LIMIT_MS)
  return cluster
}

/** The choices of `size` members. */
export function choices(members: readonly number[], size: number): number[][] {
  if (size === 0) return [[]]
  return members.flatMap((first, index) =>
    choices(members.slice(index + 1), size - 1).map(rest => [first, ...rest]),
  )
}
