/**
 * The records of the participants, collected while the run goes on, because a participant that is wiped loses
 * its own. What could not be collected in time is not judged, and the report says how many locks that were.
 */
import type { History, HistoryEvent } from '../../shared/history/events.ts'
import { judge } from '../../shared/history/judge.ts'
import { ActiveUsers } from '../../shared/history/liveness.ts'
import { merge } from '../../shared/history/merge.ts'
import { DEFAULT_LIMITS } from '../../shared/protocols/protocol.ts'
import { resourceByName } from '../../shared/resource/registry.ts'
import { violationsOf } from '../service/histories.ts'

interface HistoryAnswer {
  readonly protocol: string
  readonly resource: string
  readonly participants: readonly {
    readonly id: number
    readonly reachable: boolean
    readonly events: readonly HistoryEvent[]
  }[]
  /** For the next page, where the service answers in pages. */
  readonly cursor?: string | null
}

interface Collected {
  protocol: string
  resource: string
  readonly events: Map<number, HistoryEvent[]>
  readonly collectedAt: Map<number, number>
  /** How many of the participant's events were those of storage that it has lost. */
  readonly before: Map<number, number>
  /** Why it cannot be judged. */
  gap: string | null
}

const COLLECT_LIMIT_MS = 8_000

export class ChaosHistories {
  private readonly locks = new Map<string, Collected>()
  private readonly observerUrl: string

  constructor(observerUrl: string) {
    this.observerUrl = observerUrl
  }

  /** Adds what the participants that can be reached have recorded since. */
  async collect(lock: string): Promise<void> {
    const known = this.of(lock)
    const at = Date.now()
    const pages = await this.pages(lock).catch(() => [])
    for (const id of new Set(pages.flatMap(({ participants }) => participants.map(one => one.id)))) {
      const parts = pages.flatMap(({ participants }) => participants.filter(one => one.id === id))
      // A part that is missing in the middle would look like a violation.
      if (parts.some(({ reachable }) => !reachable)) continue
      known.protocol = pages[0]!.protocol
      known.resource = pages[0]!.resource
      this.extend(
        lock,
        known,
        id,
        parts.flatMap(({ events }) => events),
      )
      known.collectedAt.set(id, at)
    }
  }

  private async pages(lock: string): Promise<HistoryAnswer[]> {
    const pages: HistoryAnswer[] = []
    for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)!.cursor ?? null) {
      const query: string = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`
      const response = await fetch(`${this.observerUrl}/v1/locks/${lock}/history${query}`, {
        signal: AbortSignal.timeout(COLLECT_LIMIT_MS),
      })
      if (!response.ok) throw new Error(`the history of ${lock} was refused: ${response.status}`)
      pages.push((await response.json()) as HistoryAnswer)
    }
    return pages
  }

  /**
   * The participant's storage is gone, and with it whoever was there. `quietSince`: nothing happened to this
   * lock there after that moment. A user that was in by what had been collected may have left since, and what
   * says so is lost: whatever it was owed, nobody can tell.
   */
  wiped(lock: string, participant: number, quietSince: number): void {
    const known = this.of(lock)
    if ((known.collectedAt.get(participant) ?? 0) < quietSince)
      known.gap ??= `participant ${participant} was wiped before its record was collected`
    const events = known.events.get(participant)
    if (events === undefined) return
    const at = Date.now()
    const users = new ActiveUsers()
    for (const [index, event] of events.entries()) users.follow(index, event)
    for (const [user] of users) events.push({ at, participant, type: 'crash', user })
    events.push({ at, participant, type: 'wipe' })
    known.before.set(participant, events.length)
  }

  spoil(lock: string, why: string): void {
    this.of(lock).gap ??= why
  }

  /** What is wrong with the lock's history; `null` if it cannot be told. */
  judge(lock: string, participants: readonly number[]): string[] | null {
    const { protocol, resource, events, gap } = this.of(lock)
    if (gap !== null || participants.some(id => !events.has(id))) return null
    const { violations, history } = judged(protocol, resource, events)
    return violations.length === 0 ? [] : [...violations, JSON.stringify(history.header)]
  }

  /** As `npm run check-history` reads it. */
  asText(lock: string): string {
    const { protocol, resource, events } = this.of(lock)
    const history = historyOf(protocol, resource, events)
    return `${[history.header, ...history.events].map(line => JSON.stringify(line)).join('\n')}\n`
  }

  private extend(lock: string, known: Collected, id: number, newest: readonly HistoryEvent[]): void {
    const before = known.events.get(id) ?? []
    if (before.length === (known.before.get(id) ?? 0)) {
      known.events.set(id, [...before, ...newest])
      return
    }
    const text = JSON.stringify(before.at(-1))
    const place = newest.findLastIndex(event => JSON.stringify(event) === text)
    if (place === -1) this.spoil(lock, `the record of participant ${id} does not continue what was collected`)
    else known.events.set(id, [...before, ...newest.slice(place + 1)])
  }

  private of(lock: string): Collected {
    let known = this.locks.get(lock)
    if (known === undefined) {
      known = {
        protocol: '',
        resource: '',
        events: new Map(),
        collectedAt: new Map(),
        before: new Map(),
        gap: null,
      }
      this.locks.set(lock, known)
    }
    return known
  }
}

function judged(protocol: string, resource: string, events: ReadonlyMap<number, HistoryEvent[]>) {
  const history = historyOf(protocol, resource, events)
  return { history, violations: violationsOf(judge(history, resourceByName(resource)!)) }
}

/**
 * Everything is up and nobody is owed anything any more: that is what the last three marks tell the judge.
 */
function historyOf(
  protocol: string,
  resource: string,
  recorded: ReadonlyMap<number, HistoryEvent[]>,
): History {
  const events = merge([...recorded.values()])
  const at = Math.max(Date.now(), events.at(-1)?.at ?? 0)
  const { resultsKept } = DEFAULT_LIMITS
  return {
    header: { format: 1, protocol, participants: recorded.size, resource, resultsKept },
    events: [
      ...events,
      { at, type: 'healed', participants: [...recorded.keys()] },
      { at, type: 'settled' },
      { at, type: 'end' },
    ],
  }
}
