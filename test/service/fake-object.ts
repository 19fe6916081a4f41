/**
 * Participants in Node, each with what a Durable Object has around it and a journal of what it did. They show
 * what cannot be seen from outside on the real runtime: what an instance does that was superseded by another
 * one. The platform lets such an instance run on until it touches its storage.
 */
import { vi } from 'vitest'
import { Sqlite } from '../sqlite.ts'

vi.mock('cloudflare:workers', () => ({
  DurableObject: class {
    readonly ctx: unknown
    readonly env: unknown
    constructor(ctx: unknown, env: unknown) {
      this.ctx = ctx
      this.env = env
    }
  },
}))

// Node has no such class, and the participant only hands it on.
Object.assign(globalThis, { WebSocketRequestResponsePair: class {} })

/** Not written where it is used: the compiler would follow it, and miss the Workers types here. */
const PARTICIPANT = new URL('../../worker/participant/durable-object.ts', import.meta.url).pathname

export const SUPERSEDED = 'this instance was superseded'

export interface Participant {
  fetch(request: Request): Promise<Response>
  alarm(): Promise<void>
  webSocketMessage(socket: FakeSocket, message: string): void
  webSocketClose(socket: FakeSocket): void
  webSocketError(socket: FakeSocket): void
}

type Row = { readonly [column: string]: unknown }

export class FakeSocket {
  private readonly journal: string[]

  constructor(journal: string[]) {
    this.journal = journal
  }

  deserializeAttachment(): null {
    return null
  }

  serializeAttachment(): void {}

  send(): void {
    this.journal.push('say')
  }

  close(): void {
    this.journal.push('say')
  }
}

export class FakeObject {
  /** What it did, in order: `storage`, `send`, `alarm`, `say`. */
  readonly journal: string[] = []
  readonly socket = new FakeSocket(this.journal)
  readonly background: Promise<unknown>[] = []
  isSuperseded = false
  participant!: Participant
  private readonly database = new Sqlite()

  readonly ctx = {
    storage: {
      sql: { exec: (query: string, ...values: (string | number)[]) => this.exec(query, values) },
      transactionSync: (run: () => void) => run(),
      setAlarm: async () => {
        this.journal.push('alarm')
      },
    },
    waitUntil: (work: Promise<unknown>) => {
      work.catch(() => {})
      this.background.push(work)
    },
    getWebSockets: () => [],
    getTags: () => ['~nobody'],
    setWebSocketAutoResponse: () => {},
    getWebSocketAutoResponseTimestamp: () => null,
    acceptWebSocket: () => {},
    abort: () => {},
  }

  private exec(query: string, values: (string | number)[]) {
    this.journal.push('storage')
    if (this.isSuperseded) throw new Error(SUPERSEDED)
    const rows = this.database.all(query, ...values) as Row[]
    return { one: () => rows[0]!, toArray: () => rows, [Symbol.iterator]: () => rows[Symbol.iterator]() }
  }
}

export class FakeLock {
  readonly objects: readonly FakeObject[]
  /** Requests between participants wait for this. */
  gate: Promise<void> = Promise.resolve()

  private constructor(objects: readonly FakeObject[]) {
    this.objects = objects
  }

  static async create(participants: number): Promise<FakeLock> {
    const { BatonParticipant } = (await import(PARTICIPANT)) as unknown as {
      BatonParticipant: new (ctx: unknown, env: unknown) => Participant
    }
    const lock = new FakeLock(Array.from({ length: participants }, () => new FakeObject()))
    lock.objects.forEach(object => {
      object.participant = new BatonParticipant(object.ctx, lock.environmentOf(object, participants))
    })
    return lock
  }

  private environmentOf(sender: FakeObject, participants: number) {
    const stubOf = (name: string) => ({
      fetch: async (request: Request) => {
        sender.journal.push('send')
        await this.gate
        return this.objects[Number(name.split('/')[1]) - 1]!.participant.fetch(request)
      },
    })
    const places = Array.from({ length: participants }, () => ({}))
    return {
      PARTICIPANT: { idFromName: (name: string) => name, get: stubOf },
      BATON_PARTICIPANTS: JSON.stringify(places),
    }
  }
}

/** As the router or a peer asks it of participant 1. */
export function requestTo(path: string, body?: object): Request {
  return new Request(`https://participant${path}`, {
    // The name is one whose first owner is participant 1.
    headers: { 'x-baton-lock': 'lock-1', 'x-baton-participant': '1' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
}
