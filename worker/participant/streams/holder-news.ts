/**
 * Watchers are told of a new holder by the log, which does not know what the holder calls itself, and since
 * when it is inside. Only its own participant does. So another one that is watched asks it, and then tells
 * its watchers who that was; one question is under way at a time, and only the latest holder matters.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import type { Json } from '../../../shared/json.ts'
import type { HolderStatus } from '../calls.ts'
import type { StepReport } from '../core/member.ts'
import type { Turns } from '../core/turns.ts'
import { PEER_TIME_LIMIT_MS } from '../peers/exchange.ts'
import type { Runtime } from '../runtime.ts'

export interface HolderNewsHost {
  readonly runtime: Runtime
  readonly turns: Turns
  /** The name of the lock, and which participant this is. */
  readonly address: { readonly lock: string; readonly id: number }
  readonly isWatched: boolean
  /** `null` if it is not known. */
  placeOf(peer: number): ParticipantPlace | null
  /** Tells watchers that have heard of the holder who it is. */
  tell(data: Json): void
}

interface NewHolder {
  readonly sequence: number
  readonly participant: number
  readonly fence: number
}

export class HolderNews {
  private readonly host: HolderNewsHost
  private latest: NewHolder | null = null
  private isAsking = false

  constructor(host: HolderNewsHost) {
    this.host = host
  }

  onStep({ changes }: StepReport): void {
    const last = changes.findLast(({ event }) => event === 'holder')
    if (last === undefined) return
    this.latest = last.data as unknown as NewHolder
    this.ask()
  }

  /** In a turn. */
  private ask(): void {
    const { host, latest } = this
    if (this.isAsking || latest === null || !host.isWatched || latest.participant === host.address.id) return
    this.isAsking = true
    host.turns.afterwards(() => host.runtime.background(this.hear(latest)))
  }

  private async hear(asked: NewHolder): Promise<void> {
    const { runtime, turns, address, placeOf } = this.host
    const request = { type: 'who', fence: asked.fence } as const
    const place = placeOf(asked.participant)
    const ask = () => runtime.peers.ask(address.lock, place!, request, PEER_TIME_LIMIT_MS).catch(() => null)
    const answer = place === null ? null : await ask()
    turns.run(() => {
      this.isAsking = false
      if (this.latest?.fence !== asked.fence) return this.ask()
      if (answer?.type === 'holder' && answer.holder !== null) this.host.tell(described(asked, answer.holder))
    })
  }
}

function described({ sequence, participant, fence }: NewHolder, holder: HolderStatus): Json {
  const { since, expiresAt, owner } = holder
  return { sequence, participant, fence, since, expiresAt, ...(owner !== undefined && { owner }) }
}
