/** Somebody who does nothing wrong, all the while: each of its operations must succeed, and count once. */
import { createBaton, type Lock } from '../../client/index.ts'
import { sleep } from '../service/eventually.ts'

/** Seldom enough that its own share of the memory stays small. */
const EVERY_MS = 150

export class GoodClient {
  readonly errors: string[] = []
  private readonly lock: Lock
  private readonly running: Promise<void>
  private done = 0
  private isOver = false

  constructor(url: string) {
    // Without retries: nothing may go wrong even once.
    this.lock = createBaton({ url, retry: { attempts: 1 } }).lock('good-client')
    this.running = this.run()
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      try {
        await this.lock.transact([{ increment: 'count' }])
        this.done++
        await this.lock.get('count')
      } catch (error) {
        this.errors.push(String(error))
      }
      await sleep(EVERY_MS)
    }
  }

  async stop(): Promise<void> {
    this.isOver = true
    await this.running
    try {
      const { value } = await this.lock.get<number>('count')
      if (value !== this.done)
        this.errors.push(`${this.done} operations succeeded, and ${value} were counted`)
    } catch (error) {
      this.errors.push(String(error))
    }
  }
}
