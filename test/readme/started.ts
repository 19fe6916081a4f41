/** What `npm start` starts, on a free port and with new storage. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './markdown.ts'

export class StartedService {
  /** Everything that it printed until it was ready. */
  readonly printed: string
  readonly url: string
  private readonly child: ChildProcess
  private readonly folder: string

  private constructor(child: ChildProcess, printed: string, folder: string) {
    this.child = child
    this.printed = printed
    this.folder = folder
    this.url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)![0]
  }

  static async start(): Promise<StartedService> {
    const folder = await mkdtemp(join(tmpdir(), 'baton-readme-'))
    const child = spawn(process.execPath, ['worker/local/start.ts'], {
      cwd: ROOT,
      env: { ...process.env, PORT: '0', BATON_STORAGE: join(folder, 'storage') },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // Should this process be ended in the middle of a test, it leaves nobody behind.
    process.once('exit', () => child.kill())
    let printed = ''
    for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      printed += chunk
      if (printed.includes('Ctrl-C')) return new StartedService(child, printed, folder)
    }
    throw new Error(`it ended before it was ready: ${printed}`)
  }

  /** As Ctrl-C does. */
  async stop(): Promise<number | null> {
    const ended = once(this.child, 'exit')
    this.child.kill('SIGINT')
    const [status] = (await ended) as [number | null]
    await rm(this.folder, { recursive: true, force: true })
    return status
  }
}
