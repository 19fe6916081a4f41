/** V8's inspector in a workerd process that was started with `isInspected`. */
import { once } from 'node:events'
import { WebSocket } from 'undici'

interface InspectorMessage {
  readonly id?: number
  readonly result?: unknown
  readonly method?: string
  readonly params?: { readonly context?: { readonly id: number } }
}

export class Inspector {
  private readonly socket: WebSocket
  private readonly opened: Promise<unknown>
  private readonly waiting = new Map<number, (result: unknown) => void>()
  private foundContext!: (id: number) => void
  private readonly contextFound = new Promise<number>(resolve => {
    this.foundContext = resolve
  })
  private asked = 0

  constructor(inspectorPort: number) {
    const socket = new WebSocket(`ws://127.0.0.1:${inspectorPort}/main`)
    this.socket = socket
    this.opened = once(socket, 'open')
    socket.addEventListener('message', ({ data }) => this.hear(JSON.parse(String(data)) as InspectorMessage))
  }

  /** The one in which the Worker runs. */
  async context(): Promise<number> {
    await this.ask('Runtime.enable', {})
    return this.contextFound
  }

  async ask(method: string, params: object = {}): Promise<unknown> {
    await this.opened
    const id = ++this.asked
    const answered = new Promise<unknown>(resolve => this.waiting.set(id, resolve))
    this.socket.send(JSON.stringify({ id, method, params }))
    return answered
  }

  close(): void {
    this.socket.close()
  }

  private hear({ id, result, method, params }: InspectorMessage): void {
    if (id !== undefined) this.waiting.get(id)?.(result)
    if (method === 'Runtime.executionContextCreated') this.foundContext(params!.context!.id)
  }
}
