/**
 * How many calls are under way at once, and how heavy they are: no client can make a participant run out of
 * memory.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { ParticipantAnswer, ParticipantCall } from '../calls.ts'
import { weigh } from '../core/weigh.ts'
import { tooMany } from './refusals.ts'

type Call = Exclude<ParticipantCall, { type: 'configure' | 'locks' }>

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

export class CallsInFlight {
  private calls = 0
  private weight = 0

  get size(): number {
    return this.calls
  }

  /** `null`: there is no room for it. */
  take(call: Call): Taken | null {
    const weight = 'ops' in call ? weigh(call.ops) : 0
    const isFull = this.calls >= API_LIMITS.callsInFlight || this.weight + weight > API_LIMITS.callsWeight
    if (isFull && !ALWAYS_TAKEN.has(call.type)) return null
    this.calls++
    this.weight += weight
    const end = () => {
      this.calls--
      this.weight -= weight
    }
    return { call: isFull ? withoutWaiting(call) : call, end }
  }
}

/** What is always taken must not stay. */
const withoutWaiting = (call: Call): Call => (call.type === 'keepalive' ? { ...call, waitMs: 0 } : call)

export function tooManyCalls(call: Call): ParticipantAnswer {
  const outcome = 'opId' in call ? { outcome: 'not-applied' as const } : {}
  return { ...tooMany('This participant has too many calls to answer.'), ...outcome }
}
