/**
 * Finds out whether a lock exists, for whoever only wants to look: a participant that knows nothing of its
 * lock asks the registrars (shared/birth/existence.ts), and neither it nor they store anything.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { type Existence, existenceOf, type Sight, sightOf } from '../../../shared/birth/existence.ts'
import { blankBirth } from '../../../shared/birth/lock-state.ts'
import type { BirthRecord } from '../../../shared/birth/lock-types.ts'
import type { Turns } from '../core/turns.ts'
import { LEDGER_NAME } from '../ledger/name.ts'
import type { Runtime } from '../runtime.ts'
import { type Address, hasLedger } from './lock.ts'

/** Whoever waits for a status waits for two seconds. */
const LOOK_MS = 1_000

export interface ExistenceHost {
  readonly runtime: Runtime
  readonly turns: Turns
  /** What this participant has stored of the birth; `null`: nothing. Valid in a turn. */
  birth(): BirthRecord | null
  registrars(address: Address): readonly ParticipantPlace[]
}

const BLANK = blankBirth(1, 0)
const UNSURE = { isSure: false, incarnation: 0, known: {} }

export class Looking {
  private readonly host: ExistenceHost

  constructor(host: ExistenceHost) {
    this.host = host
  }

  /** What this participant knows, as it is at some time between the question and the answer. */
  async own(address: Address): Promise<Sight> {
    const context = { hasLedger: hasLedger(this.host.registrars(address)) }
    const before = this.birth()
    const known = sightOf(context, before)
    if (known !== null) return known
    const { generation, standing } = before
    const ledger = await this.askLedger(
      address,
      generation,
      standing.status === 'fresh' ? standing.token : null,
    )
    // It may have been born meanwhile, and the ledger was asked about what it was before.
    const after = this.birth()
    const isTheSame = after === before || JSON.stringify(after) === JSON.stringify(before)
    return sightOf(context, after) ?? { generation, isBorn: false, ...(isTheSame ? ledger : UNSURE) }
  }

  async find(address: Address): Promise<Existence> {
    const registrars = this.host.registrars(address)
    const about = { lock: address.lock, registrars: registrars.length }
    const sights = new Map<number, Sight>()
    return new Promise((resolve, reject) => {
      const note = (id: number, sight: Sight | null) => {
        if (sight !== null) sights.set(id, sight)
        const existence = existenceOf(about, sights)
        if (existence !== 'unknown') resolve(existence)
      }
      const asked = registrars.map(async place => {
        note(place.id, await (place.id === address.id ? this.own(address) : this.ask(address.lock, place)))
      })
      Promise.all(asked).then(() => resolve('unknown'), reject)
    })
  }

  private birth(): BirthRecord {
    return this.host.turns.run(() => this.host.birth()) ?? BLANK
  }

  private async ask(lock: string, place: ParticipantPlace): Promise<Sight | null> {
    const asked = this.host.runtime.peers.ask(lock, place, { type: 'look' }, LOOK_MS)
    const answer = await asked.catch(() => null)
    return answer?.type === 'sight' ? answer.sight : null
  }

  private async askLedger({ lock, id }: Address, generation: number, token: string | null) {
    const here = { id, location: null, url: null }
    const look = { lock, generation, token }
    const asked = this.host.runtime.peers.ask(LEDGER_NAME, here, { type: 'look-ledger', look }, LOOK_MS)
    const answer = await asked.catch(() => null)
    return answer?.type === 'ledger-sight' ? answer.sight : UNSURE
  }
}
