/**
 * Puts together what a service tells of a lock, from its status and from its watch, and what has changed in
 * between, in words. It knows no network and no clock: whoever follows the lock says what came, and when.
 */
import type { Entry, Status, WatchEvent } from '../../client/types.ts'
import type { HolderPicture, LockPicture, NewsPicture } from '../view/lock-picture.ts'
import { Cells } from './cells.ts'
import { changesBetween, ejectionWords, grantWords, operationWords } from './news.ts'
import { participantsOf, tokenOf, waitingOf } from './picture.ts'

/** More than this nobody scrolls through. */
const NEWS_KEPT = 200

/** How many holders lost the lock, by cause, since their participant was loaded. */
export type Ejections = ReadonlyMap<string, number>

interface Remembered extends NewsPicture {
  /** News of the same key replaces what was said before. */
  readonly key: string
}

export class LockStory {
  readonly #lock: string
  readonly #cells = new Cells()
  #status: Status | null = null
  #holder: HolderPicture | null = null
  /** The place in the log that the holder is known from. */
  #holderSequence = -1
  #isWatched = false
  #news: readonly Remembered[] = []
  #ejections: Ejections | null = null

  constructor(lock: string) {
    this.#lock = lock
  }

  get status(): Status | null {
    return this.#status
  }

  onStatus(status: Status, at: number): void {
    const before = this.#status
    // A later lock of the same name has nothing to do with the one before.
    if (before !== null && before.generation !== status.generation) this.#forget()
    if (before !== null)
      for (const { kind, text } of changesBetween(before, status)) this.#tell(at, kind, text)
    this.#status = status
    this.#holdAsStatusSays(status, at)
  }

  /** The lock is gone, or never was. */
  onAbsence(): void {
    this.#forget()
    this.#status = null
  }

  onState(entries: readonly Entry[]): void {
    this.#cells.replace(entries)
  }

  onEvent(event: WatchEvent, at: number): void {
    this.#isWatched = true
    if (event.type === 'snapshot') this.#cells.replace(event.entries)
    else if (event.type === 'op') {
      this.#cells.change(event.changes)
      this.#tell(at, 'operation', operationWords(event))
    } else this.#onHolder(event, at)
  }

  onEjections(counts: Ejections, at: number): void {
    const before = this.#ejections
    this.#ejections = counts
    if (before === null) return
    for (const [key, count] of counts) {
      const more = count - (before.get(key) ?? 0)
      if (more > 0) this.#tell(at, 'ejection', ejectionWords(key, more))
    }
  }

  /** `null` until a status came. */
  picture(now: number): LockPicture | null {
    const status = this.#status
    if (status === null) return null
    return {
      lock: this.#lock,
      protocol: status.protocol,
      now,
      participants: participantsOf(status),
      token: tokenOf(status, this.#holder, this.#holderSequence),
      holder: this.#holder,
      waiting: waitingOf(status),
      explanation: status.explanation,
      state: this.#cells.list(),
      news: this.#news,
      messages: [],
    }
  }

  // ---------------------------------------------------------------- who holds it

  #onHolder(event: Extract<WatchEvent, { readonly type: 'holder' }>, at: number): void {
    if (event.sequence < this.#holderSequence) return
    this.#holderSequence = event.sequence
    if (event.participant === null) return this.#letGo(at)
    const { fence, participant, owner, since, expiresAt } = event
    const known = this.#holder?.fence === fence ? this.#holder : null
    this.#hold(
      {
        participant,
        fence,
        owner: owner ?? known?.owner ?? null,
        since: since === undefined ? (known?.since ?? at) : Date.parse(since),
        expiresAt: expiresAt === undefined ? (known?.expiresAt ?? null) : Date.parse(expiresAt),
      },
      at,
    )
  }

  /** A status may be older than what the watch has told meanwhile. */
  #holdAsStatusSays({ holder, participants }: Status, at: number): void {
    const sequence = Math.max(-1, ...participants.map(one => one.sequence ?? -1))
    if (holder === null) {
      if (this.#holder !== null && (!this.#isWatched || sequence >= this.#holderSequence)) this.#letGo(at)
      return
    }
    if (this.#holder !== null && holder.fence < this.#holder.fence) return
    const { participant, fence, owner = null } = holder
    const [since, expiresAt] = [Date.parse(holder.since), Date.parse(holder.expiresAt)]
    this.#hold({ participant, fence, owner, since, expiresAt }, at)
  }

  #hold(holder: HolderPicture, at: number): void {
    this.#holder = holder
    const participant = this.#status?.participants.find(({ id }) => id === holder.participant)
    const text = grantWords(holder, participant?.location ?? null)
    // News is in the order in which it came, whatever the clocks say.
    const latest = this.#news.at(-1)?.at ?? 0
    this.#tell(Math.max(holder.since ?? at, latest), 'grant', text, `grant ${holder.fence}`)
  }

  #letGo(at: number): void {
    const held = this.#holder
    this.#holder = null
    if (held === null) return
    const who = held.owner ?? `The holder with fence ${held.fence}`
    this.#tell(at, 'release', `${who} no longer holds the lock.`)
  }

  // ---------------------------------------------------------------- news

  #tell(at: number, kind: NewsPicture['kind'], text: string, key = ''): void {
    const told = key === '' ? undefined : this.#news.find(one => one.key === key)
    if (told === undefined) this.#news = [...this.#news, { at, kind, text, key }].slice(-NEWS_KEPT)
    else if (told.text !== text) this.#news = this.#news.map(one => (one === told ? { ...told, text } : one))
  }

  #forget(): void {
    this.#cells.replace([])
    this.#holder = null
    this.#holderSequence = -1
    this.#ejections = null
  }
}
