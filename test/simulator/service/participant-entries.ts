/**
 * The participant as an object of the simulated platform: the same thin shell as
 * worker/participant/durable-object.ts.
 */
import type { FollowingRules } from '../../../shared/api/following.ts'
import { isIndexName } from '../../../shared/api/lock-index.ts'
import { resourceByName } from '../../../shared/resource/registry.ts'
import { answerResponse } from '../../../worker/answer-response.ts'
import type { ParticipantRequest } from '../../../worker/participant/calls.ts'
import { Storage } from '../../../worker/participant/core/storage.ts'
import { IndexKeeper } from '../../../worker/participant/index/keeper.ts'
import { LedgerKeeper } from '../../../worker/participant/ledger/keeper.ts'
import { LEDGER_NAME } from '../../../worker/participant/ledger/name.ts'
import { type Address, isParticipant } from '../../../worker/participant/lock/lock.ts'
import { Participant } from '../../../worker/participant/participant.ts'
import type { PeerRequest } from '../../../worker/participant/peers/requests.ts'
import type { Runtime } from '../../../worker/participant/runtime.ts'
import type { Entries } from './entries.ts'
import { type SimRequest, SimResponse } from './http.ts'
import type { Instance } from './instance.ts'
import { StreamJudge } from './judge-stream.ts'
import type { SimObject } from './sim-object.ts'
import type { ServerSocket } from './sockets.ts'
import { openStream } from './streams.ts'
import type { World } from './world.ts'

/** Small, so that old events are forgotten all the time. */
export const EVENTS_KEPT = 60
/** Small, so that there are checkpoints all the time. */
const JOURNAL_ROWS = 5

/** Short, so that locks which follow their work move. */
const FOLLOWING: FollowingRules = { windowMs: 4_000, leastGrants: 3, everyMs: 1_500 }

/** `seen` is the runtime as the participant sees it. */
export function participantEntries(
  world: World,
  object: SimObject,
  runtime: Instance,
  seen: Runtime,
): Entries {
  const later = object.address === null ? {} : { address: object.address }
  const address: Address = { lock: object.lock, id: object.participant, ...later }
  const defaults = ({ id }: { readonly id: number }) => world.defaultsOf(object.site, id)
  const storage = new Storage(seen.rows, { eventsKept: EVENTS_KEPT, journalRows: JOURNAL_ROWS })
  if (object.lock === LEDGER_NAME) return ledgerEntries(new LedgerKeeper(seen, storage, defaults), address)
  if (isIndexName(object.lock)) return indexEntries(new IndexKeeper(seen, storage), address)
  const { limits } = world.plan
  const create = () =>
    new Participant(seen, storage, { limits, following: FOLLOWING, defaults, resourceNamed: resourceByName })
  // One that holds nothing begins with its first request.
  let known = isParticipant(storage) ? create() : null
  const participantOf = (): Participant => {
    known ??= create()
    return known
  }
  return {
    fetch: async (request, openSocket) => {
      const participant = participantOf()
      const { pathname, searchParams } = new URL(request.url)
      switch (pathname) {
        case '/call': {
          const { call, asItIs } = (await request.json()) as ParticipantRequest
          const answer = await participant.call(address, call, request.signal)
          return answerResponse(answer, asItIs === true) as unknown as SimResponse
        }
        case '/watch': {
          const since = searchParams.has('since') ? Number(searchParams.get('since')) : null
          const judge = new StreamJudge(object.name, since)
          const { stream, sink } = openStream(runtime, {
            onCancel: closed => participant.unwatch(closed),
            onDrained: read => participant.drained(read),
            onWrite: text => judgeWrite(world, judge, text),
          })
          const refusal = await participant.watch(address, since, sink)
          if (refusal !== null) return SimResponse.json(refusal)
          return new SimResponse(stream, { headers: { 'content-type': 'text/event-stream' } })
        }
        case '/session':
          return openSession(participant, address, request, openSocket)
        default:
          return new SimResponse(null, { status: 404 })
      }
    },
    peer: async body => JSON.stringify(await participantOf().peer(address, JSON.parse(body) as PeerRequest)),
    alarm: async () => participantOf().alarm(),
    socketSays: (socket, text) => participantOf().socketMessage(socket, text),
    socketCloses: socket => participantOf().socketClose(socket),
  }
}

/** The participant must not notice that it is judged. */
function judgeWrite(world: World, judge: StreamJudge, text: string): void {
  try {
    judge.take(text)
  } catch (violation) {
    world.fail(violation)
  }
}

function ledgerEntries(ledger: LedgerKeeper, address: Address): Entries {
  const nobody = (): never => {
    throw new Error('a ledger has no sockets')
  }
  return {
    fetch: async () => new SimResponse(null, { status: 404 }),
    peer: async body => JSON.stringify(await ledger.peer(address, JSON.parse(body) as PeerRequest)),
    alarm: async () => ledger.alarm(),
    socketSays: nobody,
    socketCloses: nobody,
  }
}

function indexEntries(index: IndexKeeper, address: Address): Entries {
  const nobody = (): never => {
    throw new Error('an index has neither sockets nor alarms')
  }
  return {
    fetch: async request => {
      const { call } = (await request.json()) as ParticipantRequest
      return answerResponse(await index.call(call), false) as unknown as SimResponse
    },
    peer: async body => JSON.stringify(await index.peer(address, JSON.parse(body) as PeerRequest)),
    alarm: nobody,
    socketSays: nobody,
    socketCloses: nobody,
  }
}

async function openSession(
  participant: Participant,
  address: Address,
  request: SimRequest,
  openSocket: (tag: string) => ServerSocket,
): Promise<SimResponse> {
  const user = new URL(request.url).searchParams.get('user') ?? ''
  let opened: ServerSocket | null = null
  const refusal = await participant.session(address, user, tag => {
    opened = openSocket(tag)
  })
  if (refusal !== null) return SimResponse.json(refusal)
  return new SimResponse(null, { status: 101, webSocket: (opened as ServerSocket | null)!.client })
}
