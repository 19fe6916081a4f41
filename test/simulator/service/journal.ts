/** What clients asked for and were told. The judge believes in nothing else but the histories. */
import type { Holder, WatchEvent } from '../../../client/index.ts'
import type { LockExport } from '../../../shared/api/types.ts'
import type { Json } from '../../../shared/json.ts'
import type { Asked, CallRefused } from './asked.ts'
import type { Look } from './plan-looks.ts'
import type { World } from './world.ts'

/**
 * What a client was told of an operation in the end; `pending`: nothing, the client or the run ended
 * before.
 */
export type Word = 'applied' | 'not-applied' | 'unknown' | 'pending'

/** One call of a client that wanted an operation applied. Several may be about the same `opId`. */
export interface OperationCall {
  readonly lock: string
  readonly opId: string
  readonly ops: Json
  readonly by: string
  readonly begunAt: number
  endedAt: number | null
  word: Word
  /**
   * For an applied operation; `condition` is false for a batch that changed nothing because a condition
   * failed.
   */
  sequence?: number
  results?: Json
  condition?: boolean
  fence?: number
}

export interface GrantSeen {
  readonly lock: string
  readonly fence: number
  readonly isConfirmed: boolean
  readonly by: string
  readonly begunAt: number
  readonly at: number
}

export interface ReadSeen {
  readonly lock: string
  readonly key: string
  readonly consistency: 'local' | 'linearizable'
  readonly by: string
  readonly begunAt: number
  readonly endedAt: number
  readonly value: Json
  readonly revision: number
  /** `null` for a key that was not there. */
  readonly sequence: number | null
}

export interface ConfigurationSeen {
  readonly lock: string
  readonly by: string
  readonly status: 'set' | 'conflict'
  /** As the service describes it, as text. */
  readonly configuration: string
}

export interface WatchSeen {
  readonly lock: string
  readonly by: string
  readonly sequence: number
  /** `null`: a snapshot of everything up to here. */
  readonly opId: string | null
}

/** What a watcher was told of the holder. */
export interface WatchedHolder {
  readonly lock: string
  readonly by: string
  readonly sequence: number
  /** `null`: nobody holds the lock. */
  readonly participant: number | null
  /** Of a holder. */
  readonly fence: number | null
}

export interface DeleteSeen {
  readonly lock: string
  readonly by: string
  /** The one that was meant. */
  readonly generation: number
  readonly begunAt: number
  readonly endedAt: number
  /** The client was told that it is deleted. */
  readonly isDone: boolean
}

/** What an operator wanted. */
export interface EjectSeen {
  readonly lock: string
  /** `null`: whoever holds the lock. */
  readonly fence: number | null
  readonly begunAt: number
}

/** What somebody that only looked was told. */
export interface LookSeen {
  readonly lock: string
  readonly look: Look
  readonly by: string
  readonly begunAt: number
  readonly status: number
  readonly code: string | null
}

/** What an export had. */
export interface ExportSeen {
  readonly lock: string
  readonly by: string
  readonly begunAt: number
  readonly exported: LockExport
}

export interface HolderSeen {
  readonly lock: string
  readonly by: string
  readonly holder: Holder
}

export class Journal {
  readonly operations: OperationCall[] = []
  readonly grants: GrantSeen[] = []
  readonly reads: ReadSeen[] = []
  readonly configurations: ConfigurationSeen[] = []
  readonly watched: WatchSeen[] = []
  readonly watchedHolders: WatchedHolder[] = []
  readonly deletes: DeleteSeen[] = []
  readonly ejects: EjectSeen[] = []
  readonly looks: LookSeen[] = []
  readonly holders: HolderSeen[] = []
  readonly exports: ExportSeen[] = []
  readonly asked: Asked[] = []
  readonly callsRefused: CallRefused[] = []
  /** What each lock's log held in the end. */
  readonly final = new Map<string, readonly string[]>()
  /** Locks of a protocol that guards no state, as the service itself said. */
  readonly lockOnly = new Set<string>()
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  get #now(): number {
    return this.#world.loop.now
  }

  beginOperation(lock: string, by: string, opId: string, ops: Json): OperationCall {
    const call: OperationCall = { lock, opId, ops, by, begunAt: this.#now, endedAt: null, word: 'pending' }
    this.operations.push(call)
    return call
  }

  endOperation(call: OperationCall, word: Word, told: Partial<OperationCall> = {}): void {
    Object.assign(call, told, { word, endedAt: this.#now })
    const { counts } = this.#world
    if (word === 'not-applied') counts.notApplied++
    else if (word === 'unknown') counts.unknown++
    else if (word === 'applied' && call.condition === false) counts.conditionsFailed++
    else if (word === 'applied') counts.acknowledged++
    const what = word === 'applied' ? ` at ${call.sequence}: ${JSON.stringify(call.results)}` : ''
    this.#world.note(call.by, `${call.opId} on ${call.lock} is ${word}${what}`)
  }

  grant(lock: string, by: string, begunAt: number, fence: number, isConfirmed = false): void {
    this.grants.push({ lock, fence, isConfirmed, by, begunAt, at: this.#now })
    this.#world.counts.grants++
    this.#world.note(by, `holds ${lock} with fence ${fence}`)
  }

  eject(lock: string, fence: number | null): void {
    this.ejects.push({ lock, fence, begunAt: this.#now })
  }

  read(seen: Omit<ReadSeen, 'endedAt'>): void {
    this.reads.push({ ...seen, endedAt: this.#now })
    this.#world.counts.reads++
    if (seen.consistency === 'linearizable') this.#world.counts.linearizableReads++
    this.#world.note(
      seen.by,
      `reads ${seen.key} of ${seen.lock}: ${JSON.stringify(seen.value)} at ${seen.sequence}`,
    )
  }

  configured(lock: string, by: string, status: ConfigurationSeen['status'], configuration: Json): void {
    this.configurations.push({ lock, by, status, configuration: JSON.stringify(configuration) })
    if (status === 'set') this.#world.counts.configured++
    else this.#world.counts.configurationConflicts++
    this.#world.note(by, `${lock} is configured (${status}): ${JSON.stringify(configuration)}`)
  }

  delete(seen: Omit<DeleteSeen, 'endedAt'>): void {
    this.deletes.push({ ...seen, endedAt: this.#now })
    if (seen.isDone) this.#world.counts.deletes++
    this.#world.note(
      seen.by,
      `generation ${seen.generation} of ${seen.lock} is ${seen.isDone ? '' : 'not '}deleted`,
    )
  }

  looked(seen: LookSeen): void {
    this.looks.push(seen)
    const { counts } = this.#world
    if (seen.code === 'no_such_lock') counts.looksAbsent++
    else if (seen.status === 200) counts.looksSeen++
    else if (seen.code === 'no_quorum') counts.looksUnknown++
    this.#world.note(seen.by, `looks at ${seen.lock} (${seen.look}): ${seen.status} ${seen.code}`)
  }

  exported(seen: ExportSeen): void {
    this.exports.push(seen)
    this.#world.counts.exports++
    this.#world.note(seen.by, `exports ${seen.lock} at ${seen.exported.sequence}`)
  }

  toldHolder(lock: string, by: string, holder: Holder): void {
    this.holders.push({ lock, by, holder })
  }

  watchHolder(lock: string, by: string, event: Extract<WatchEvent, { type: 'holder' }>): void {
    const { sequence, participant } = event
    const fence = event.participant === null ? null : event.fence
    this.watchedHolders.push({ lock, by, sequence, participant, fence })
    if (fence === null) this.#world.counts.watchedLeave++
    else this.#world.counts.watchedHolders++
    const who = fence === null ? 'nobody' : `participant ${participant} with fence ${fence}`
    this.#world.note(by, `is told that ${who} holds ${lock}, at ${sequence}`)
    if (event.participant === null || event.since === undefined || event.expiresAt === undefined) return
    const { since, expiresAt, owner } = event
    const own = owner === undefined ? {} : { owner }
    this.toldHolder(lock, by, {
      participant: event.participant,
      fence: event.fence,
      since,
      expiresAt,
      ...own,
    })
  }

  watch(lock: string, by: string, sequence: number, opId: string | null): void {
    this.watched.push({ lock, by, sequence, opId })
    this.#world.counts.watchEvents++
  }
}
