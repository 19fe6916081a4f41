/** The participant in a Durable Object: a thin shell that gives it what the platform has (runtime.ts). */
import { DurableObject } from 'cloudflare:workers'
import { FOLLOWING, type FollowingRules } from '../../shared/api/following.ts'
import { isIndexName } from '../../shared/api/lock-index.ts'
import { PING, PONG } from '../../shared/api/session.ts'
import { resourceByName } from '../../shared/resource/registry.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import { answerResponse } from '../answer-response.ts'
import { logToConsole } from '../console-log.ts'
import { createDirectory, headersFor, type ParticipantDirectory } from '../directory.ts'
import { type BatonEnvironment, DEFAULT_RESOURCE, defaultConfiguration, eventsKept } from '../environment.ts'
import type { ParticipantCall, ParticipantRequest } from './calls.ts'
import { Storage } from './core/storage.ts'
import { IndexKeeper, isIndex } from './index/keeper.ts'
import { isLedger, LedgerKeeper } from './ledger/keeper.ts'
import { LEDGER_NAME } from './ledger/name.ts'
import { type Address, isParticipant } from './lock/lock.ts'
import { Participant } from './participant.ts'
import type { PeerAnswer, PeerRequest } from './peers/requests.ts'
import type { Peers, Runtime, Sink, Socket, SocketAttachment, Sockets, Timeout } from './runtime.ts'
import { SqlRows } from './sql-rows.ts'

const CLOSE_NORMAL = 1000

/** The calls whose users leave with their connection. */
const LEAVING: ReadonlySet<ParticipantCall['type']> = new Set(['acquire', 'transact'])

export class BatonParticipant extends DurableObject<BatonEnvironment> {
  private readonly runtime: Runtime
  private readonly storage: Storage
  /** An object is one of these for all its life; which one, its first request says. */
  private knownParticipant: Participant | null = null
  private knownLedger: LedgerKeeper | null = null
  private knownIndex: IndexKeeper | null = null

  constructor(ctx: DurableObjectState, env: BatonEnvironment) {
    super(ctx, env)
    this.runtime = runtimeOf(ctx, createDirectory(env))
    this.storage = new Storage(this.runtime.rows, { eventsKept: eventsKept(env) })
    if (isLedger(this.storage)) this.knownLedger = this.createLedger()
    else if (isIndex(this.storage)) this.knownIndex = this.createIndex()
    else if (isParticipant(this.storage)) this.knownParticipant = this.createParticipant()
  }

  private createParticipant(): Participant {
    const { env } = this
    return new Participant(this.runtime, this.storage, {
      defaults: ({ lock, id }) => defaultConfiguration(env, id, this.resourceNameOf(lock)),
      resourceNamed: name => this.resourceNamed(name),
      following: this.followingRules(),
    })
  }

  private createLedger(): LedgerKeeper {
    return new LedgerKeeper(this.runtime, this.storage, ({ id }) => defaultConfiguration(this.env, id))
  }

  private createIndex(): IndexKeeper {
    return new IndexKeeper(this.runtime, this.storage)
  }

  private get participant(): Participant {
    this.knownParticipant ??= this.createParticipant()
    return this.knownParticipant
  }

  private get ledger(): LedgerKeeper {
    this.knownLedger ??= this.createLedger()
    return this.knownLedger
  }

  /** When locks that follow their work move. A test overrides this: it has no five minutes. */
  followingRules(): FollowingRules {
    return FOLLOWING
  }

  /** Resources that a lock's configuration may name; another Worker overrides this to register its own. */
  resourceNamed(name: string): Resource | undefined {
    return resourceByName(name)
  }

  /**
   * What a lock guards that nobody has used before. Decided by its name, once: the lock keeps what it was
   * born with.
   */
  resourceNameOf(_lock: string): string {
    return DEFAULT_RESOURCE
  }

  /** A body comes later than its request: nothing is done before it is there. */
  override async fetch(request: Request): Promise<Response> {
    const address = addressOf(request)
    const path = pathOf(request.url)
    if (address.lock === LEDGER_NAME) {
      if (path !== '/peer') return new Response(null, { status: 404 })
      return Response.json(await this.ledger.peer(address, (await request.json()) as PeerRequest))
    }
    if (isIndexName(address.lock)) return this.askIndex(address, path, request)
    const { participant } = this
    switch (path) {
      case '/call': {
        const { call, caller, asItIs } = (await request.json()) as ParticipantRequest
        // To listen for the end of a connection costs something; only some calls leave when it ends.
        const signal = LEAVING.has(call.type) ? request.signal : null
        return answerResponse(await participant.call(address, call, signal, caller), asItIs === true)
      }
      case '/peer':
        return Response.json(await participant.peer(address, (await request.json()) as PeerRequest))
      case '/watch':
        return this.watch(address, numberIn(searchOf(request.url), 'since'))
      case '/session':
        return this.session(address, searchOf(request.url))
      default:
        return new Response(null, { status: 404 })
    }
  }

  private async askIndex(address: Address, path: string, request: Request): Promise<Response> {
    this.knownIndex ??= this.createIndex()
    if (path === '/peer')
      return Response.json(await this.knownIndex.peer(address, (await request.json()) as PeerRequest))
    if (path !== '/call') return new Response(null, { status: 404 })
    const { call } = (await request.json()) as ParticipantRequest
    return answerResponse(await this.knownIndex.call(call), false)
  }

  override async alarm(): Promise<void> {
    if (this.knownLedger !== null) this.knownLedger.alarm()
    else this.participant.alarm()
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.participant.socketMessage(socketOf(this.ctx, socket), message)
  }

  override webSocketClose(socket: WebSocket): void {
    this.participant.socketClose(socketOf(this.ctx, socket))
    // A hibernating socket is not closed by the runtime: without this the client waits for it until it gives
    // up.
    socketOf(this.ctx, socket).close(CLOSE_NORMAL, '')
  }

  override webSocketError(socket: WebSocket): void {
    this.participant.socketClose(socketOf(this.ctx, socket))
  }

  private async watch(address: Address, since: number | null): Promise<Response> {
    const { stream, sink } = createSink(this.participant)
    const refusal = await this.participant.watch(address, since, sink)
    if (refusal !== null) return Response.json(refusal)
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
    return new Response(stream, { headers })
  }

  private async session(address: Address, search: URLSearchParams): Promise<Response> {
    const given = (name: string) => search.get(name) ?? undefined
    const caller = { key: given('key'), requestId: given('request') }
    let webSocket: WebSocket | null = null
    const accept = (tag: string) => {
      const pair = new WebSocketPair()
      webSocket = pair[0]
      this.ctx.acceptWebSocket(pair[1], [tag])
    }
    const user = given('user') ?? ''
    const mayRead = given('read') === 'yes'
    const refusal = await this.participant.session(
      address,
      user,
      accept,
      given('client'),
      caller,
      mayRead,
      given('near'),
    )
    return refusal === null ? new Response(null, { status: 101, webSocket }) : Response.json(refusal)
  }
}

function addressOf(request: Request): Address {
  const lock = request.headers.get('x-baton-lock')
  const id = Number(request.headers.get('x-baton-participant'))
  if (lock === null || !Number.isInteger(id))
    throw new Error('a request to a participant must say which it means')
  const address = request.headers.get('x-baton-address')
  return address === null ? { lock, id } : { lock, id, address }
}

/** Without the host, which is of no importance, and without the query. */
function pathOf(url: string): string {
  const begin = url.indexOf('/', 'https://'.length)
  const end = url.indexOf('?', begin)
  return end === -1 ? url.slice(begin) : url.slice(begin, end)
}

const searchOf = (url: string): URLSearchParams => new URL(url).searchParams

function numberIn(search: URLSearchParams, name: string): number | null {
  const value = search.get(name)
  return value === null ? null : Number(value)
}

// ---------------------------------------------------------------- the runtime

function oneTimeout(): Timeout {
  // Which type it has depends on whose types are there: the platform's, or also Node's.
  let pending: unknown = null
  return {
    set: (afterMs, run) => {
      clearTimeout(pending as Parameters<typeof clearTimeout>[0])
      pending = setTimeout(run, afterMs)
    },
  }
}

function runtimeOf(ctx: DurableObjectState, directory: ParticipantDirectory): Runtime {
  // A ping wakes nobody: the platform answers it, and remembers when it did.
  ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
  return {
    rows: new SqlRows(ctx.storage),
    // The write is part of the event's transaction and needs no waiting for.
    alarm: { set: at => void ctx.storage.setAlarm(at) },
    timeout: oneTimeout(),
    peers: peersOf(directory),
    sockets: socketsOf(ctx),
    now: () => Date.now(),
    random: () => Math.random(),
    randomId: () => crypto.randomUUID().replaceAll('-', ''),
    background: work => ctx.waitUntil(work),
    abort: reason => ctx.abort(reason),
    log: logToConsole,
  }
}

const peersOf = (directory: ParticipantDirectory): Peers => ({
  async ask(lock, place, request, limitMs) {
    const outgoing = new Request('https://participant/peer', {
      method: 'POST',
      headers: headersFor(lock, place),
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(limitMs),
    })
    const response = await directory.fetch(lock, place, outgoing)
    if (!response.ok) throw new Error(`participant ${place.id} of ${lock} answered ${response.status}`)
    return (await response.json()) as PeerAnswer
  },
})

const socketsOf = (ctx: DurableObjectState): Sockets => ({
  all: () => ctx.getWebSockets().map(socket => socketOf(ctx, socket)),
  withTag: tag => {
    const [socket] = ctx.getWebSockets(tag)
    return socket === undefined ? undefined : socketOf(ctx, socket)
  },
})

function socketOf(ctx: DurableObjectState, socket: WebSocket): Socket {
  return {
    tag: ctx.getTags(socket)[0]!,
    send(text) {
      try {
        socket.send(text)
      } catch {
        // The socket is closing: its close event ends the grant.
      }
    },
    close: (code, reason) => socket.close(code, reason),
    bufferedBytes: () => null,
    lastPing: () => ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? null,
    attachment: () => socket.deserializeAttachment() as SocketAttachment | null,
    attach: attachment => socket.serializeAttachment(attachment),
  }
}

/**
 * A stream without a limit of its own: the participant checks how much is unread, and is told when everything
 * is read.
 */
function createSink(participant: Participant): { stream: ReadableStream<Uint8Array>; sink: Sink } {
  const encoder = new TextEncoder()
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const sink: Sink = {
    write(text) {
      try {
        controller.enqueue(encoder.encode(text))
      } catch {
        // The reader has gone, and nobody has said so yet. That must not end the instance.
      }
    },
    unreadBytes: () => -(controller.desiredSize ?? 0),
    fail: reason => controller.error(new Error(reason)),
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      start: own => {
        controller = own
      },
      pull: () => {
        queueMicrotask(() => participant.drained(sink))
      },
      cancel: () => participant.unwatch(sink),
    },
    { highWaterMark: 0, size: chunk => chunk.byteLength },
  )
  return { stream, sink }
}
