/** A lock of the counting service, and what a client does with it: each kind of use is counted by itself. */
export const USES = ['transact', 'operation', 'cycle', 'threeCalls'] as const
export type Use = (typeof USES)[number]

interface Grant {
  readonly id: string
}

export class CountedLock {
  private readonly url: string
  private operations = 0
  private held: Grant | null = null

  constructor(url: string) {
    this.url = url
  }

  /** An operation goes to all participants at once, as it comes to between regions. */
  async askAll(): Promise<void> {
    await this.send('PUT', '', { protocol: 'wme-2', options: { majorityFirst: false } })
  }

  async transact(): Promise<void> {
    await this.send('POST', 'transact', { ...this.ops(), at: 1 })
  }

  /** Acquire and release, without an operation. */
  async cycle(): Promise<void> {
    await this.release(await this.acquire())
  }

  async threeCalls(): Promise<void> {
    const grant = await this.acquire()
    await this.send('POST', `grants/${grant.id}/ops`, this.ops())
    await this.release(grant)
  }

  /** Between `hold` and `letGo`. */
  async operation(): Promise<void> {
    await this.send('POST', `grants/${this.held!.id}/ops`, this.ops())
  }

  async hold(): Promise<void> {
    this.held = await this.acquire(600_000)
  }

  async letGo(): Promise<void> {
    await this.release(this.held!)
    this.held = null
  }

  private async acquire(ttlMs = 30_000): Promise<Grant> {
    return ((await this.send('POST', 'acquire', { at: 1, ttlMs })) as { grant: Grant }).grant
  }

  private release({ id }: Grant): Promise<unknown> {
    return this.send('DELETE', `grants/${id}`)
  }

  private ops() {
    return { opId: `op-${++this.operations}`, ops: [{ increment: 'visits' }] }
  }

  private async send(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(path === '' ? this.url : `${this.url}/${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
}
