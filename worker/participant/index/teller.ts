/**
 * What a participant tells the index of its lock: that it is there, once that is certain, and that it is
 * gone. It does so in the background, and again until it is heard: nobody waits for the index, and a lock
 * that the index does not know of works all the same.
 */
import { type IndexEntry, indexName, shardOf } from '../../../shared/api/lock-index.ts'
import type { BirthRecord } from '../../../shared/birth/lock-types.ts'
import type { Storage } from '../core/storage.ts'
import type { Timer, Timers } from '../core/timers.ts'
import type { Turns } from '../core/turns.ts'
import type { Address } from '../lock/lock.ts'
import { PEER_TIME_LIMIT_MS } from '../peers/exchange.ts'
import type { Runtime } from '../runtime.ts'

/** What the index has heard last: a generation, and whether the lock is there. */
const LISTED = '.listed'

/** What must outlive the lock: the index may not have heard that it is gone. */
export const KEPT_OF_INDEX: readonly string[] = [LISTED]

const AGAIN_MS = 5_000
const AGAIN_MAX_MS = 600_000

export interface TellerHost {
  readonly runtime: Runtime
  readonly turns: Turns
  readonly timers: Timers
  readonly storage: Storage
  readonly address: Address
  /** `null`: nothing is stored of a lock here. */
  birth(): BirthRecord | null
  /** Only the default participants have an index. */
  readonly hasIndex: boolean
}

export class IndexTeller {
  private readonly host: TellerHost
  private isTelling = false
  private timer: Timer | null = null
  private attempts = 0

  constructor(host: TellerHost) {
    this.host = host
  }

  /** At the end of each turn. Nearly always nothing has changed. */
  check(): void {
    if (this.isTelling || this.timer !== null) return
    const birth = this.host.birth()
    if (birth === null) return
    const mark = markOf(birth)
    if (mark === null || mark === this.heard || !this.host.hasIndex) return
    this.isTelling = true
    this.host.runtime.background(this.tell(mark, entryOf(birth)))
  }

  private get heard(): number | undefined {
    return this.host.storage.get(LISTED) as number | undefined
  }

  private async tell(mark: number, entry: IndexEntry): Promise<void> {
    const { runtime, turns, address, storage } = this.host
    const here = { id: address.id, location: null, url: null }
    const request = { type: 'list-lock', lock: address.lock, entry } as const
    const asked = runtime.peers.ask(indexName(shardOf(address.lock)), here, request, PEER_TIME_LIMIT_MS)
    const isHeard = await asked.then(
      () => true,
      () => false,
    )
    turns.attempt(() => {
      this.isTelling = false
      if (!isHeard) return this.tellAgainLater()
      this.attempts = 0
      storage.put(LISTED, mark)
    })
  }

  private tellAgainLater(): void {
    const { timers, runtime } = this.host
    const afterMs = Math.min(AGAIN_MS * 2 ** this.attempts, AGAIN_MAX_MS)
    if (afterMs < AGAIN_MAX_MS) this.attempts++
    this.timer = timers.set(runtime.now() + afterMs, () => {
      this.timer = null
    })
  }
}

/** `null`: nobody need hear of it. A lock of the first generation that is not born was never listed. */
function markOf({ generation, chosen, core }: BirthRecord): number | null {
  const isThere = chosen !== null && core !== null
  return !isThere && generation === 1 ? null : generation * 2 + (isThere ? 1 : 0)
}

function entryOf({ generation, chosen, core }: BirthRecord): IndexEntry {
  if (chosen === null || core === null) return { generation, lock: null }
  const { protocol, participants } = chosen.configuration
  return { generation, lock: { protocol, participants: participants.length } }
}
