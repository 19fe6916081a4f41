/**
 * The contract of a protocol: what every user and every interpreter may rely on, whichever protocol their
 * lock has. Each protocol runs it in its own folder, on a table that also checks the durable state after
 * every step (table.ts). A test that says nothing about a protocol is skipped there, with the reason.
 */
import { describe, it } from 'vitest'
import { protocolNamed } from '../../../shared/protocols/all.ts'
import {
  DEFAULT_LIMITS,
  type DurableRecord,
  type Effect,
  type Emitted,
  type Limits,
  type ProtocolName,
  type ProtocolOptions,
} from '../../../shared/protocols/protocol.ts'
import { type Holder, holder } from '../scenes.ts'
import { Table as CommonTable } from '../table.ts'

export interface Subject {
  readonly protocol: ProtocolName
  readonly options?: ProtocolOptions
  /** By title: why a test says nothing about this protocol. */
  readonly skips?: { readonly [title: string]: string }
}

export interface ContractTest {
  readonly title: string
  run(create: Create): void
}

/** Creates a lock that is just born. */
export type Create = (participants: number, limits?: Partial<Limits>) => Table

interface Message {
  readonly type: string
}

export class Table extends CommonTable<{ durable: unknown }, Message> {
  /** What was written, save by save. */
  readonly saves: (readonly DurableRecord[])[] = []

  constructor({ protocol, options }: Subject, participants: number, limits: Partial<Limits> = {}) {
    super(protocolNamed(protocol) as unknown as CommonTable<{ durable: unknown }, Message>['protocol'], {
      participants,
      keepsCount: true,
      config: { limits: { ...DEFAULT_LIMITS, ...limits }, ...(options && { options }) },
    })
    this.bear()
  }

  protected override perform(participant: number, effect: Effect<Message>): void {
    if (effect.type === 'save') this.saves.push(effect.records)
    super.perform(participant, effect)
  }

  /** The users inside, wherever they are, as far as the participants that are up know. */
  inside(): string[] {
    const up = this.everybody.filter(participant => this.isUp(participant))
    return up.flatMap(participant => this.view(participant).holders.map(({ user }) => user))
  }

  /** Time passes until this user is in. */
  runUntilIn(participant: number, user: string): Holder {
    for (let seconds = 0; seconds < 120 && !this.inside().includes(user); seconds++) this.run(1_000)
    return holder(this, participant, user)
  }

  /** A timer fires that this protocol has not set. */
  fireForeign(participant: number, timer: string): Emitted[] {
    this.perform(participant, { type: 'set-timer', timer, afterMs: 0 })
    return this.fire(participant, timer)
  }

  restart(participant: number): Emitted[] {
    this.crash(participant)
    return this.start(participant)
  }
}

export function describeContract(name: string, subject: Subject, tests: readonly ContractTest[]): void {
  const skips = subject.skips ?? {}
  const unknown = Object.keys(skips).find(title => !tests.some(test => test.title === title))
  if (unknown !== undefined) throw new Error(`the contract has no test "${unknown}"`)
  describe(`the contract, for ${name}`, () => {
    for (const { title, run } of tests) {
      const reason = skips[title]
      if (reason !== undefined) it.skip(`${title} (${reason})`, () => {})
      else it(title, () => run((participants, limits) => new Table(subject, participants, limits)))
    }
  })
}
