/** A watcher's end of the stream, as a test reads it. */
import { bytesOf } from '../../worker/participant/core/bytes.ts'
import type { Sink } from '../../worker/participant/runtime.ts'
import type { MemoryNode } from './memory-platform.ts'

export interface SinkEvent {
  readonly id: number
  readonly event: string
  readonly data: {
    readonly opId?: string
    readonly sequence?: number
    readonly participant?: number | null
    readonly fence?: number
    readonly owner?: string
    readonly entries?: { key: string }[]
    readonly changes?: { key: string }[]
  }
}

export class MemorySink implements Sink {
  isFailed = false
  private readonly node: MemoryNode
  private unread: string[] = []
  private bytes = 0
  private heard = ''

  constructor(node: MemoryNode) {
    this.node = node
  }

  write(text: string): void {
    // Like a stream that is over.
    if (this.isFailed) throw new Error('Unable to enqueue')
    this.unread.push(text)
    this.bytes += bytesOf(text)
  }

  fail(): void {
    this.isFailed = true
    this.unread = []
    this.bytes = 0
  }

  unreadBytes(): number {
    return this.bytes
  }

  /** Reads what is there. `false` if there is nothing. */
  read(): boolean {
    const text = this.unread.join('')
    this.unread = []
    this.bytes = 0
    this.heard += text
    this.node.drained(this)
    return text !== ''
  }

  text(): string {
    while (this.read());
    return this.heard
  }

  readAll(): SinkEvent[] {
    for (let rounds = 0; this.read(); rounds++) if (rounds > 10_000) throw new Error('there is no end')
    return this.heard
      .split('\n\n')
      .filter(block => block.startsWith('id:'))
      .map(block => {
        const [id, event, data] = block.split('\n').map(line => line.slice(line.indexOf(':') + 2))
        return { id: Number(id), event: event!, data: JSON.parse(data!) }
      })
  }
}
