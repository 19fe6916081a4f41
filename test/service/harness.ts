/**
 * The service of one test file: a raw workerd process on a free port with a storage folder of its own,
 * stopped and removed afterwards. Locks are made with `service.lock()`, each with a name that no other test
 * has; what their participants recorded is judged by the last test of the file.
 *
 * @example
 *   const service = useService()
 *   it('…', async () => {
 *     const lock = service.lock()
 *   })
 *   itKeepsEveryPromise(service)
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundle } from '../../worker/local/build.ts'
import { builtPage } from '../../worker/local/page-folder.ts'
import { type RunningWorkerd, startWorkerd } from '../../worker/local/workerd.ts'
import { eventually } from './eventually.ts'
import { Histories, violationsOf } from './histories.ts'
import { type Answer, type RequestOptions, request } from './http.ts'
import { TestLock } from './lock.ts'

/** A test of the real service may have to wait for many timers on a busy machine. */
export const TEST_LIMIT_MS = 120_000

export interface JudgedLocks {
  readonly histories: Histories
  lock(): TestLock
}

export class TestService implements JudgedLocks {
  readonly histories = new Histories(() => this.url)
  /** Everything that the process printed: a defect says so there. */
  readonly output: string[] = []
  private readonly variables: { readonly [name: string]: string }
  private readonly entry: string
  /** The folder of its static assets, if it has any. */
  private readonly assets: (() => Promise<string>) | undefined
  /** See `WorkerdOptions`. */
  private readonly cfHeader: string | undefined
  private script = ''
  private folder = ''
  private running: RunningWorkerd | null = null
  private port = 0
  private locks = 0

  constructor(
    variables: { readonly [name: string]: string },
    entry: string,
    assets?: (() => Promise<string>) | undefined,
    cfHeader?: string,
  ) {
    this.cfHeader = cfHeader
    this.variables = variables
    this.entry = entry
    this.assets = assets
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get storage(): string {
    return join(this.folder, 'storage')
  }

  async start(): Promise<void> {
    this.script ||= await bundle(fileURLToPath(new URL(this.entry, import.meta.url)))
    this.folder ||= await mkdtemp(join(tmpdir(), 'baton-test-'))
    this.running = await startWorkerd({
      script: this.script,
      storage: this.storage,
      port: this.port,
      assets: await this.assets?.(),
      ...(this.cfHeader !== undefined && { cfHeader: this.cfHeader }),
      variables: { BATON_OPEN: 'true', ...this.variables },
      onOutput: line => this.output.push(line),
    })
    this.port = this.running.port
    // If this process is ended in the middle of a test, it leaves no other process behind.
    const { process: child } = this.running
    const end = () => child.kill('SIGKILL')
    process.once('exit', end)
    child.once('exit', () => process.removeListener('exit', end))
  }

  /** As if the power went. The next start uses the same port and the same storage. */
  async kill(): Promise<void> {
    await this.running?.stop('SIGKILL')
    this.running = null
  }

  async remove(): Promise<void> {
    await this.kill()
    await rm(this.folder, { recursive: true, force: true })
  }

  send(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    return request(this.url, method, path, options)
  }

  /** A lock that nobody has used before. */
  lock(): TestLock {
    const name = `lock-${++this.locks}`
    this.histories.add(name)
    return new TestLock(name, () => this.url)
  }
}

const SERVICE = '../../worker/index.ts'

/** `entry` is the module of the Worker, relative to this file. */
export function useService(
  variables: { readonly [name: string]: string } = {},
  entry = SERVICE,
): TestService {
  const service = new TestService(variables, entry)
  beforeAll(() => service.start(), TEST_LIMIT_MS)
  afterAll(() => service.remove(), TEST_LIMIT_MS)
  return service
}

/** Its requests say in the header `CF_HEADER` where they come from. */
export function useServiceWithPlaces(entry: string): TestService {
  const service = new TestService({}, entry, undefined, CF_HEADER)
  beforeAll(() => service.start(), TEST_LIMIT_MS)
  afterAll(() => service.remove(), TEST_LIMIT_MS)
  return service
}

export const CF_HEADER = 'x-test-cf'

/** The service with its page, which is built first if it has to be. */
export function useServiceWithPage(variables: { readonly [name: string]: string } = {}): TestService {
  const service = new TestService(variables, SERVICE, builtPage)
  beforeAll(() => service.start(), TEST_LIMIT_MS)
  afterAll(() => service.remove(), TEST_LIMIT_MS)
  return service
}

/** The last test of a file: it judges what the others left behind. */
export function itKeepsEveryPromise(service: JudgedLocks): void {
  it('keeps every promise of weak mutual exclusion in every history of this file', async () => {
    const { histories } = service
    for (const lock of histories.names) {
      if (!(await histories.collect(lock))) continue
      const { safety } = histories.judge(lock)
      expect(safety === 'invalid' ? violationsOf(histories.judge(lock)) : [], lock).toEqual([])
      expect(safety, lock).toBe('valid')
      // A participant that ended before it wrote an outcome is woken by this, and settles the operation
      // again.
      await eventually(async () => {
        await histories.collect(lock)
        const judgement = histories.judge(lock)
        expect(violationsOf(judgement), lock).toEqual([])
        expect(judgement.verdict, lock).not.toBe('invalid')
      })
    }
  })
}
