/**
 * Participants of one lock in this process, with storage in memory, a clock that the test moves, and a
 * journal of everything that leaves an instance. An instance that aborts is dead: callers that wait for it
 * get an error, and the next request finds a new one.
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import { DEFAULT_TIMING, type ProtocolName } from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { Participant } from '../../worker/participant/participant.ts'
import type { PeerAnswer, PeerRequest } from '../../worker/participant/peers/requests.ts'
import type { Runtime, Sink, Socket, SocketAttachment } from '../../worker/participant/runtime.ts'
import { MemoryRows } from './memory-rows.ts'

export const LOCK = 'lock'

export class MemoryPlatform {
  now = 1_700_000_000_000
  ids = 0
  readonly nodes: readonly MemoryNode[]
  private readonly protocol: ProtocolName

  constructor(participants: number, protocol: ProtocolName = 'wme-2') {
    this.protocol = protocol
    this.nodes = Array.from({ length: participants }, (_, index) => new MemoryNode(this, index + 1))
  }

  node(id: number): MemoryNode {
    return this.nodes[id - 1]!
  }

  /** What the index is told; it may throw. */
  tellIndex: (request: Extract<PeerRequest, { type: 'list-lock' }>) => PeerAnswer = () => ({ type: 'taken' })

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let round = 0; round < 50; round++) await new Promise(resolve => setImmediate(resolve))
  }

  /** Alarms and timeouts come when it is their time. */
  async advance(ms: number): Promise<void> {
    const end = this.now + ms
    await this.settle()
    for (;;) {
      const [first] = this.nodes.toSorted((a, b) => a.wakesAt - b.wakesAt)
      if (first === undefined || first.wakesAt > end) break
      this.now = Math.max(this.now, first.wakesAt)
      first.wake()
      await this.settle()
    }
    this.now = end
  }

  /** Waits for an answer, as long as it takes. */
  async during<Answer>(answer: Promise<Answer>): Promise<Answer> {
    let isAnswered = false
    const seen = () => {
      isAnswered = true
    }
    answer.then(seen, seen)
    for (let round = 0; round < 1_000 && !isAnswered; round++) {
      await this.settle()
      if (!isAnswered) await this.advance(100)
    }
    return answer
  }

  defaults(firstOwner: number): LockConfiguration {
    return {
      number: 1,
      protocol: this.protocol,
      participants: this.nodes.map(({ id }) => ({ id, location: null, url: null })),
      firstOwner,
      ttlMs: 30_000,
      detector: { heartbeatMs: DEFAULT_TIMING.heartbeatMs, timeoutMs: DEFAULT_TIMING.timeoutMs },
      localHandoffs: 1,
      resource: 'key-value',
    }
  }
}

export class MemoryNode {
  readonly id: number
  readonly rows = new MemoryRows()
  /**
   * What has left the instances of this participant: `message`, `answer`, `alarm`, `socket: …`, `watch: …`.
   */
  readonly journal: string[] = []
  readonly sockets: MemorySocket[] = []
  /** Requests find nobody here. */
  isAway = false
  aborts = 0
  alarmAt: number | null = null
  timeout: { readonly at: number; readonly run: () => void } | null = null
  private readonly platform: MemoryPlatform
  private instance: Instance | null = null

  constructor(platform: MemoryPlatform, id: number) {
    this.platform = platform
    this.id = id
    this.rows.now = () => platform.now
  }

  /** `key`: the name of the key of whoever asks. */
  call(call: ParticipantCall, signal: AbortSignal | null = null, key?: string): Promise<ParticipantAnswer> {
    const address = { lock: LOCK, id: this.id }
    return this.request(participant => participant.call(address, call, signal, { key }))
  }

  peer(request: PeerRequest): Promise<PeerAnswer> {
    return this.request(participant => participant.peer({ lock: LOCK, id: this.id }, request))
  }

  async session(user: string, client?: string, mayRead?: boolean): Promise<MemorySocket> {
    await this.refusedSession(user, client, mayRead)
    return this.sockets.at(-1)!
  }

  /** `null`: it was not refused. */
  refusedSession(user: string, client?: string, mayRead?: boolean): Promise<ParticipantAnswer | null> {
    const accept = (tag: string) => this.sockets.push(new MemorySocket(tag, this.journal))
    const address = { lock: LOCK, id: this.id }
    return this.request(participant => participant.session(address, user, accept, client, undefined, mayRead))
  }

  /** What is in memory is lost; the next request finds a new instance. */
  restart(): void {
    this.instance = null
    this.timeout = null
  }

  say(socket: MemorySocket, message: object): void {
    this.awake().participant.socketMessage(socket, JSON.stringify(message))
  }

  /** The client has closed it. */
  close(socket: MemorySocket): void {
    this.sockets.splice(this.sockets.indexOf(socket), 1)
    this.awake().participant.socketClose(socket)
  }

  watch(sink: Sink, since: number | null = null): Promise<ParticipantAnswer | null> {
    return this.request(participant => participant.watch({ lock: LOCK, id: this.id }, since, sink))
  }

  unwatch(sink: Sink): void {
    this.awake().participant.unwatch(sink)
  }

  drained(sink: Sink): void {
    this.awake().participant.drained(sink)
  }

  /** When something comes of itself. */
  get wakesAt(): number {
    return Math.min(this.alarmAt ?? Number.POSITIVE_INFINITY, this.timeout?.at ?? Number.POSITIVE_INFINITY)
  }

  wake(): void {
    const { timeout } = this
    if (timeout === null || timeout.at > this.wakesAt) return this.fireAlarm()
    this.timeout = null
    timeout.run()
  }

  private fireAlarm(): void {
    this.alarmAt = null
    try {
      this.awake().participant.alarm()
    } catch {
      // The platform repeats an alarm that failed.
      this.alarmAt = this.platform.now + 2_000
    }
  }

  private async request<Answer>(ask: (participant: Participant) => Promise<Answer>): Promise<Answer> {
    if (this.isAway) throw new Error('unreachable')
    const instance = this.awake()
    const answer = await Promise.race([ask(instance.participant), instance.death])
    this.journal.push('answer')
    return JSON.parse(JSON.stringify(answer)) as Answer
  }

  private awake(): Instance {
    this.instance ??= this.boot()
    return this.instance
  }

  private boot(): Instance {
    let die = (_: Error) => {}
    const death = new Promise<never>((_, reject) => {
      die = reject
    })
    death.catch(() => {})
    const life = { isOver: false }
    const runtime = this.runtimeOf(life, reason => {
      life.isOver = true
      this.aborts++
      this.instance = null
      this.timeout = null
      die(new Error(reason))
    })
    const participant = new Participant(
      runtime,
      new Storage(this.rows, { eventsKept: 1_000, journalRows: 1 }),
      {
        defaults: ({ id }) => this.platform.defaults(id),
        resourceNamed: () => keyValue,
      },
    )
    return { participant, death }
  }

  private runtimeOf(life: { readonly isOver: boolean }, abort: (reason: string) => void): Runtime {
    const { platform, journal } = this
    // In one instance the clock never goes back.
    let latest = 0
    const now = () => {
      latest = Math.max(latest, platform.now)
      return latest
    }
    return {
      rows: this.rows,
      timeout: {
        set: (afterMs, run) => {
          if (!life.isOver) this.timeout = { at: now() + afterMs, run }
        },
      },
      alarm: {
        set: at => {
          journal.push('alarm')
          this.alarmAt = Math.max(at, now())
        },
      },
      peers: {
        ask: async (_, { id }, request) => {
          if (this.isAway) throw new Error('unreachable')
          // The index is none of a participant's business.
          if (request.type === 'list-lock') return platform.tellIndex(request)
          journal.push('message')
          const answer = await platform.node(id).peer(JSON.parse(JSON.stringify(request)))
          if (life.isOver) throw new Error('this instance is over')
          return answer
        },
      },
      sockets: {
        all: () => this.sockets,
        withTag: tag => this.sockets.find(socket => socket.tag === tag),
      },
      now,
      random: () => 0.5,
      randomId: () => String(++this.platform.ids).padStart(32, '0'),
      background: work => void work.catch(() => {}),
      abort,
      log: () => {},
    }
  }
}

interface Instance {
  readonly participant: Participant
  readonly death: Promise<never>
}

export class MemorySocket implements Socket {
  readonly tag: string
  readonly sent: { readonly type: string; readonly [member: string]: unknown }[] = []
  closedWith: number | null = null
  /** When the platform last answered a ping. */
  pingAt: number | null = null
  private readonly journal: string[]
  private attached: SocketAttachment | null = null

  constructor(tag: string, journal: string[]) {
    this.tag = tag
    this.journal = journal
  }

  send(text: string): void {
    const message = JSON.parse(text)
    this.sent.push(message)
    this.journal.push(`socket: ${message.type}`)
  }

  close(code: number): void {
    this.closedWith = code
  }

  attach(attachment: SocketAttachment): void {
    this.attached = attachment
  }

  bufferedBytes = (): null => null
  lastPing = (): number | null => this.pingAt
  attachment = (): SocketAttachment | null => this.attached
}
