/**
 * How many calls are under way at once, and how heavy they are: no client can make a participant run out of
 * memory. They are shared between keys like places for waiting (core/places.ts), so that none can keep the
 * others from asking.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { ParticipantAnswer, ParticipantCall } from '../calls.ts'
import { weigh } from '../core/weigh.ts'
import { tooMany } from './refusals.ts'

/** What only a participant that takes part in its lock can answer. */
export type Call = Exclude<ParticipantCall, { type: 'configure' | 'locks' }>

/** What makes room, and how the router finds out that a participant which keeps it waiting is there. */
const ALWAYS_TAKEN: ReadonlySet<Call['type']> = new Set([
  'status',
  'withdraw',
  'confirm',
  'release',
  'keepalive',
  'eject',
  'delete',
])

/** A call that was taken. */
export interface Taken {
  /** As it is to be answered. */
  readonly call: Call
  /** It was answered. */
  end(): void
}

interface UnderWay {
  calls: number
  weight: number
}

export class CallsInFlight {
  private readonly all: UnderWay = { calls: 0, weight: 0 }
  private readonly ofKeys = new Map<string, UnderWay>()

  get size(): number {
    return this.all.calls
  }

  /** `null`: there is no room for it. `key`: the name of the key of whoever asks. */
  take(call: Call, key?: string): Taken | null {
    const weight = 'ops' in call ? weigh(call.ops) : 0
    const isFull = !this.hasRoom(key, weight)
    if (isFull && !ALWAYS_TAKEN.has(call.type)) return null
    this.add(key, 1, weight)
    return { call: isFull ? withoutWaiting(call) : call, end: () => this.add(key, -1, -weight) }
  }

  /** Whoever has no key has no share to keep to. */
  private hasRoom(key: string | undefined, weight: number): boolean {
    const calls = API_LIMITS.callsInFlight - this.all.calls
    const left = API_LIMITS.callsWeight - this.all.weight
    const own = key === undefined ? undefined : this.ofKeys.get(key)
    return (
      calls > 0 && weight <= left && (own === undefined || (own.calls < calls && own.weight + weight <= left))
    )
  }

  private add(key: string | undefined, calls: number, weight: number): void {
    this.all.calls += calls
    this.all.weight += weight
    if (key === undefined) return
    const own = this.ofKeys.get(key) ?? { calls: 0, weight: 0 }
    own.calls += calls
    own.weight += weight
    if (own.calls === 0) this.ofKeys.delete(key)
    else this.ofKeys.set(key, own)
  }
}

/** What is always taken must not stay. */
const withoutWaiting = (call: Call): Call => (call.type === 'keepalive' ? { ...call, waitMs: 0 } : call)

export function tooManyCalls(call: Call): ParticipantAnswer {
  const outcome = 'opId' in call ? { outcome: 'not-applied' as const } : {}
  return { ...tooMany('This participant has too many calls to answer.'), ...outcome }
}
