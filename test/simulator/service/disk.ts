/**
 * The storage of one object as SQLite gives it. An instance sees at once what it wrote; the writes of one
 * turn become durable together, a little later and in order. What is not durable when the instance ends is
 * lost.
 */
import { joinLines, linesOf, recordsIn, type Text } from '../../../worker/participant/core/lines.ts'
import { storedRecords } from '../../../worker/participant/core/storage.ts'
import type { Rows } from '../../../worker/participant/runtime.ts'
import { rowsOver, Tables, type Write } from '../../participant/tables.ts'

/** The writes of one turn. */
export type Group = readonly Write[]

/** A checkpoint writes some of the records that were written before, too. */
export function recordsWritten(group: Group): (readonly [key: string, text: Text])[] {
  return group.flatMap(write => {
    if (write[0] === 'journal') return [...recordsIn(recordsAlone(write[3]))]
    return write[0] === 'segment' && write[1] > 0 && write[2] !== null ? [...recordsIn(write[2])] : []
  })
}

/** The journal has the steps of the history as well. */
const recordsAlone = (body: string): string => joinLines(linesOf(body).filter(line => !line.startsWith('{')))

/** Called before each statement; throws if the statement is to fail or the instance is over. */
export type Statement = (kind: 'read' | 'write', name: string) => void

export class Disk {
  #durable = new Tables()
  /** What the living instance sees. */
  #seen = new Tables()
  #open: Write[] = []
  isLying = false
  #before: Tables | null = null
  /** As they are durable, since somebody looked. */
  #records: ReadonlyMap<string, string> | null = null
  #flushing: Group[] = []

  get alarmAt(): number | null {
    return this.#durable.alarmAt
  }

  get isBlank(): boolean {
    return this.#durable.isBlank
  }

  /** Steps of the history that are kept though enough newer ones are there. */
  get superfluousSteps(): number {
    return this.#durable.steps.slice(1).reduce((sum, { steps }) => sum + steps, 0)
  }

  get segmentRows(): number {
    return this.#durable.segments.size
  }

  /** What this turn has written so far. */
  get hasOpenWrites(): boolean {
    return this.#open.length > 0
  }

  /** For whoever looks at storage from outside of the service. */
  durableRecord(key: string): string | undefined {
    return this.durableRecords().get(key)
  }

  durableRecords(): ReadonlyMap<string, string> {
    this.#records ??= new Map(storedRecords(rowsOf(this.#durable)))
    return this.#records
  }

  setAlarm(at: number | null): void {
    this.#write(['alarm', at])
  }

  /** The platform has given an alarm up. */
  dropAlarm(): void {
    this.#durable.alarmAt = null
    this.#seen.alarmAt = null
  }

  /** The turn is over: its writes are on their way, as one. `null` if there are none. */
  closeGroup(): Group | null {
    if (this.#open.length === 0) return null
    const group = this.#open
    this.#open = []
    this.#flushing.push(group)
    return group
  }

  /** The oldest group that is on its way has arrived. */
  commitOldest(): Group {
    const group = this.#flushing.shift()!
    if (this.isLying) this.#before = this.#durable.copy()
    for (const write of group) this.#durable.apply(write)
    this.#records = null
    return group
  }

  /** The last group was never written, whatever was said. Only if `isLying` was set before. */
  loseLastCommit(): void {
    if (this.#before !== null) this.#durable = this.#before
    this.#records = null
    this.#before = null
  }

  get groupsOnTheWay(): number {
    return this.#flushing.length
  }

  /** The instance is over: what is not durable never will be. */
  loseTheRest(): void {
    this.#open = []
    this.#flushing = []
    this.#seen = this.#durable.copy()
  }

  wipe(): void {
    this.#durable = new Tables()
    this.#records = null
    this.loseTheRest()
  }

  #write(write: Write): void {
    this.#seen.apply(write)
    this.#open.push(write)
  }

  #rollBackTo(length: number): void {
    // An instance that ended in its transaction has nothing left to roll back to.
    this.#open.length = Math.min(length, this.#open.length)
    this.#seen = this.#durable.copy()
    for (const write of [...this.#flushing.flat(), ...this.#open]) this.#seen.apply(write)
  }

  /** The rows as one instance sees them. */
  open(statement: Statement, now: () => number): Rows {
    const over = rowsOver({
      now,
      tables: () => this.#seen,
      reading: name => statement('read', name),
      write: write => {
        statement('write', write[0])
        this.#write(write)
      },
    })
    return {
      ...over,
      transaction: run => {
        statement('read', 'begin')
        const before = this.#open.length
        try {
          run()
          statement('read', 'commit')
        } catch (error) {
          this.#rollBackTo(before)
          throw error
        }
      },
    }
  }
}

function rowsOf(tables: Tables): Rows {
  const never = () => {
    throw new Error('only an instance writes')
  }
  return {
    ...rowsOver({ now: () => 0, tables: () => tables, reading: () => {}, write: never }),
    transaction: never,
  }
}
