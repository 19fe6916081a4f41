/**
 * Collects what the participants of the tests' locks recorded, and has it judged. A participant keeps a
 * bounded record and loses it with its storage, so a test may collect several times: what is new is appended
 * to what is known.
 */
import type { History, HistoryEvent } from '../../shared/history/events.ts'
import { judge } from '../../shared/history/judge.ts'
import { merge } from '../../shared/history/merge.ts'
import type { Judgement } from '../../shared/history/verdict.ts'
import { DEFAULT_LIMITS } from '../../shared/protocols/protocol.ts'
import { resourceByName } from '../../shared/resource/registry.ts'
import { eventually } from './eventually.ts'
import { type AnswerBody, request } from './http.ts'

interface Recorded {
  readonly protocol: string
  readonly resource: string
  readonly events: Map<number, HistoryEvent[]>
}

export class Histories {
  private readonly locks = new Map<string, Recorded | null>()
  private readonly urlOf: () => string

  constructor(urlOf: () => string) {
    this.urlOf = urlOf
  }

  get names(): string[] {
    return [...this.locks.keys()]
  }

  add(lock: string): void {
    this.locks.set(lock, null)
  }

  /**
   * Every participant must answer: a history with a part missing proves nothing. Returns `false` if nobody
   * has ever used the lock.
   */
  async collect(lock: string): Promise<boolean> {
    const pages = await eventually(async () => {
      // A router that has just begun learns from this who the participants are.
      const { body } = await request(this.urlOf(), 'GET', `/v1/locks/${lock}`)
      if (body.code === 'no_such_lock' && this.locks.get(lock) === null) return []
      const answers = await historyOf(this.urlOf(), lock)
      const silent = answers.flatMap(({ participants }) => participants).filter(({ reachable }) => !reachable)
      if (silent.length > 0) throw new Error(`no history of ${lock} from ${silent.map(({ id }) => id)}`)
      return answers
    })
    if (pages.length === 0) return false
    const { protocol, resource } = pages[0]!
    const recorded = new Map<number, HistoryEvent[]>()
    for (const { id, events } of pages.flatMap(page => page.participants)) {
      recorded.set(id, [...(recorded.get(id) ?? []), ...(events as unknown as HistoryEvent[])])
    }
    const known = this.locks.get(lock) ?? { protocol, resource, events: new Map() }
    for (const [id, events] of recorded) {
      const before = known.events.get(id) ?? []
      known.events.set(id, extend(before, events, `participant ${id} of ${lock}`))
    }
    this.locks.set(lock, known)
    return true
  }

  /** The participant's storage is gone, and its record with it. Collect before. */
  wiped(lock: string, participant: number): void {
    const events = this.locks.get(lock)?.events
    events?.get(participant)?.push({ at: Date.now(), participant, type: 'wipe' })
  }

  /**
   * All participants of all locks are up, and nothing is owed to anybody any more. So a user that still
   * waits, or waits for an answer, was forgotten: that is what the last three marks tell the judge.
   */
  judge(lock: string): Judgement {
    const { protocol, resource, events: recorded } = this.locks.get(lock)!
    const participants = recorded.size
    const events = merge([...recorded.values()])
    const at = Math.max(Date.now(), events.at(-1)?.at ?? 0)
    const ids = [...recorded.keys()]
    const history: History = {
      header: {
        format: 1,
        protocol,
        participants,
        resource,
        resultsKept: DEFAULT_LIMITS.resultsKept,
      },
      events: [
        ...events,
        { at, type: 'healed', participants: ids },
        { at, type: 'settled' },
        { at, type: 'end' },
      ],
    }
    return judge(history, resourceByName(resource)!)
  }
}

/** All pages. */
async function historyOf(
  url: string,
  lock: string,
): Promise<Pick<AnswerBody, 'participants' | 'protocol' | 'resource'>[]> {
  const pages: AnswerBody[] = []
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)!.cursor) {
    const query = cursor === '' ? '' : `?cursor=${cursor}`
    pages.push((await request(url, 'GET', `/v1/locks/${lock}/history${query}`)).body)
  }
  return pages
}

function extend(known: HistoryEvent[], newest: HistoryEvent[], whose: string): HistoryEvent[] {
  const last = known.at(-1)
  if (last === undefined || last.type === 'wipe') return [...known, ...newest]
  const text = JSON.stringify(last)
  const place = newest.findLastIndex(event => JSON.stringify(event) === text)
  if (place === -1) throw new Error(`the record of ${whose} has gone on without the part that is known`)
  return [...known, ...newest.slice(place + 1)]
}

/** What is wrong, for the message of a failing test. */
export function violationsOf(judgement: Judgement): string[] {
  return judgement.properties
    .filter(({ verdict }) => verdict === 'invalid')
    .flatMap(({ name, evidence }) =>
      evidence.map(({ message, events }) =>
        [`${name}: ${message}`, ...events.map(({ event }) => `    ${JSON.stringify(event)}`)].join('\n'),
      ),
    )
}
