/**
 * An object of the index (shared/api/lock-index.ts): what the participants with one number have told of the
 * locks of one shard. It keeps the names in memory, in order.
 */
import {
  INDEX_LIMIT,
  type IndexEntry,
  type IndexPage,
  isIndexName,
  isNews,
} from '../../../shared/api/lock-index.ts'
import { firstPlace, matches } from '../../../shared/api/name-patterns.ts'
import type { Json } from '../../../shared/json.ts'
import { done } from '../calls/context.ts'
import type { ParticipantAnswer, ParticipantCall } from '../calls.ts'
import type { Storage } from '../core/storage.ts'
import { Turns } from '../core/turns.ts'
import type { Address } from '../lock/lock.ts'
import type { PeerAnswer, PeerRequest } from '../peers/requests.ts'
import type { Runtime } from '../runtime.ts'

type LocksCall = Extract<ParticipantCall, { readonly type: 'locks' }>

const IDENTITY = '.identity'
const ENTRY = 'lock/'

/** Whether the storage is that of an object of the index, which finds out before it is told which one. */
export function isIndex(storage: Storage): boolean {
  const identity = storage.get(IDENTITY) as unknown as Address | undefined
  return identity !== undefined && isIndexName(identity.lock)
}

export class IndexKeeper {
  private readonly storage: Storage
  private readonly turns: Turns
  private readonly entries = new Map<string, IndexEntry>()
  /** All names in order, once somebody has asked for them; `null`: there is a new one. */
  private names: string[] | null = null

  constructor(runtime: Runtime, storage: Storage) {
    this.storage = storage
    this.turns = new Turns(runtime, storage)
    for (const [key, value] of storage.protocolRecords())
      if (key.startsWith(ENTRY)) this.entries.set(key.slice(ENTRY.length), value as unknown as IndexEntry)
  }

  async peer(address: Address, request: PeerRequest): Promise<PeerAnswer> {
    if (request.type !== 'list-lock') throw new Error('an index is no participant of a lock')
    this.turns.run(() => this.tell(address, request.lock, request.entry))
    return { type: 'taken' }
  }

  async call(call: ParticipantCall): Promise<ParticipantAnswer> {
    if (call.type !== 'locks') throw new Error('an index is no participant of a lock')
    return done(200, this.page(call) as unknown as Json)
  }

  /** What it knows already costs nothing. */
  private tell(address: Address, lock: string, entry: IndexEntry): void {
    if (!isNews(this.entries.get(lock), entry)) return
    const isNew = !this.entries.has(lock)
    // Whoever is told of too many locks forgets those that are gone, and lists no more if none is.
    if (isNew && this.entries.size >= INDEX_LIMIT && !this.forgetDeleted()) return
    if (this.storage.get(IDENTITY) === undefined) this.storage.put(IDENTITY, { ...address })
    this.entries.set(lock, entry)
    this.storage.save([{ key: ENTRY + lock, value: entry as unknown as Json }])
    if (isNew) this.names = null
  }

  private forgetDeleted(): boolean {
    for (const [name, { lock }] of this.entries) {
      if (lock !== null) continue
      this.entries.delete(name)
      this.storage.save([{ key: ENTRY + name, value: null }])
      this.names = null
      return true
    }
    return false
  }

  private page({ prefix, within = [`${prefix}*`], after, limit }: LocksCall): IndexPage {
    this.names ??= [...this.entries.keys()].sort()
    const { names } = this
    const entries: (readonly [string, IndexEntry])[] = []
    for (const pattern of within) {
      for (let index = firstPlace(names, pattern, after); index < names.length; index++) {
        const name = names[index]!
        if (!matches(pattern, name)) break
        if (entries.length === limit) return { entries, isLast: false }
        entries.push([name, this.entries.get(name)!])
      }
    }
    return { entries, isLast: true }
  }
}
