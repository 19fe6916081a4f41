/** The tables of one object, and the rows over them, for storage that is not on a real disk. */
import type { Rows, StepBlock } from '../../worker/participant/runtime.ts'

export type Write =
  | readonly ['journal', place: number, number: number, body: string]
  /** `null`: deleted. */
  | readonly ['segment', id: number, body: string | null]
  | readonly ['append', block: StepBlock]
  | readonly ['forget', first: number]
  | readonly ['replace', key: string, value: string]
  | readonly ['empty']
  | readonly ['alarm', at: number | null]

export interface OlderEvent {
  readonly sequence: number
  readonly body: string
}

export class Tables {
  readonly journal = new Map<number, { readonly number: number; readonly body: string }>()
  readonly segments = new Map<number, string>()
  steps: StepBlock[] = []
  /** Of the first layout. */
  records = new Map<string, string>()
  events: OlderEvent[] = []
  alarmAt: number | null = null

  apply(write: Write): void {
    switch (write[0]) {
      case 'journal':
        this.journal.set(write[1], { number: write[2], body: write[3] })
        return
      case 'segment':
        if (write[2] === null) this.segments.delete(write[1])
        else this.segments.set(write[1], write[2])
        return
      case 'append':
        this.steps.push(write[1])
        return
      case 'forget':
        this.steps = this.steps.filter(({ first }) => first !== write[1])
        return
      case 'replace':
        this.records = new Map([[write[1], write[2]]])
        this.events = []
        return
      case 'empty':
        this.journal.clear()
        this.segments.clear()
        this.steps = []
        return
      case 'alarm':
        this.alarmAt = write[1]
    }
  }

  copy(): Tables {
    const copy = new Tables()
    for (const [place, row] of this.journal) copy.journal.set(place, row)
    for (const [id, body] of this.segments) copy.segments.set(id, body)
    copy.steps = [...this.steps]
    copy.records = this.records
    copy.events = this.events
    copy.alarmAt = this.alarmAt
    return copy
  }

  get isBlank(): boolean {
    return this.journal.size + this.segments.size + this.steps.length + this.records.size === 0
  }
}

export interface Access {
  /** The machine's clock. */
  readonly now: () => number
  readonly tables: () => Tables
  /** Called before each statement that reads. It may throw. */
  readonly reading: (statement: string) => void
  readonly write: (write: Write) => void
}

/** The rows of a platform, without transactions. */
export function rowsOver({ now, tables, reading, write }: Access): Omit<Rows, 'transaction'> {
  const read = (statement: string): Tables => {
    reading(statement)
    return tables()
  }
  return {
    touch: () => {
      read('touch')
      return now()
    },
    empty: () => write(['empty']),
    journal: {
      put: (place, number, body) => write(['journal', place, number, body]),
      get: place => read('journal').journal.get(place),
    },
    segments: {
      put: (id, body) => write(['segment', id, body]),
      get: id => read('segment').segments.get(id),
      delete: ids => {
        for (const id of ids) write(['segment', id, null])
      },
    },
    steps: {
      append: block => write(['append', block]),
      page: (first, afterSequence, limit) => {
        const { steps } = read('page')
        const from = steps.findLast(block => block.first <= first)?.first ?? 0
        return steps.filter(block => block.first >= from && block.sequence > afterSequence).slice(0, limit)
      },
      oldest: () => {
        const [block] = read('oldest').steps
        if (block === undefined) return undefined
        const { body, ...head } = block
        return { ...head, bytes: Buffer.byteLength(body) }
      },
      highestSequence: () =>
        read('highest').steps.reduce((most, { sequence }) => Math.max(most, sequence), 0),
      delete: first => write(['forget', first]),
    },
    older: {
      isThere: () => read('older').records.size > 0,
      records: () => read('older').records,
      events: () => read('older').events,
      replaceBy: (key, value) => write(['replace', key, value]),
    },
  }
}
