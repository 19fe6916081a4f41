/**
 * I19: every queue, buffer and suffix is under its cap.
 *
 * A log holds `logKept` committed entries, up to one run more because they are dropped in runs, and what is
 * not known to be committed. Of that the owner appends at most `uncommitted`; an operation that was pending
 * when its epoch ended is appended again regardless of the limit, and a grant may follow it: two entries of
 * slack. By weight: what is committed weighs at most a quarter more than `logWeight`, and of what is not
 * committed at most one entry is an operation.
 */

import { ENTRY_WEIGHT, heaviestLog, truncationRun } from '../../../shared/protocols/log-weight.ts'
import type { Limits } from '../../../shared/protocols/protocol.ts'
import type { Entry } from '../../../shared/protocols/wme/state.ts'
import { weight } from '../../../shared/resource/canonical.ts'
import { violate } from '../violation.ts'
import type { WmeParticipant } from './wme-participant.ts'

const LOG_SLACK = 2

const weighed = (entry: Entry): number =>
  ENTRY_WEIGHT + (entry.kind === 'operation' ? weight(entry.operation, 100_000) + entry.opId.length : 0)

export class Caps {
  readonly #limits: Limits
  readonly #participants: number
  readonly #mostEntries: number

  constructor(participants: number, limits: Limits) {
    this.#participants = participants
    this.#limits = limits
    this.#mostEntries = limits.logKept + truncationRun(limits.logKept) + limits.uncommitted + LOG_SLACK
  }

  stepped({ id, state }: WmeParticipant): void {
    const { durable, soft } = state
    const limits = this.#limits
    if (durable.log.length > this.#mostEntries)
      this.#exceeded(id, 'log', durable.log.length, this.#mostEntries)
    if (durable.waiters.length > limits.waiters)
      this.#exceeded(id, 'waiters', durable.waiters.length, limits.waiters)
    if (durable.replica.order.length > limits.resultsKept) {
      this.#exceeded(id, 'results', durable.replica.order.length, limits.resultsKept)
    }
    const coming = soft.incoming?.results.length ?? 0
    if (coming > limits.resultsKept) this.#exceeded(id, 'results that are coming', coming, limits.resultsKept)
    if (durable.endings.length > limits.endingsKept) {
      this.#exceeded(id, 'endings', durable.endings.length, limits.endingsKept)
    }
    if (soft.requests.length > this.#participants - 1) {
      this.#exceeded(id, 'requests', soft.requests.length, this.#participants - 1)
    }
    if (soft.ejects.length > limits.waiters) this.#exceeded(id, 'ejects', soft.ejects.length, limits.waiters)
    if (soft.reads.length > limits.waiters) this.#exceeded(id, 'reads', soft.reads.length, limits.waiters)
  }

  /** Weighed anew: what the participant believes its log to weigh does not count. */
  #checkWeight(id: number, { durable, soft }: WmeParticipant['state']): void {
    let committed = 0
    let uncommitted = 0
    for (const entry of durable.log) {
      if (entry.sequence <= soft.committed) committed += weighed(entry)
      else if (entry.kind === 'operation') uncommitted++
    }
    const most = heaviestLog(this.#limits.logWeight)
    if (committed > most) this.#exceeded(id, 'weight of the log', committed, most)
    if (uncommitted > 1) this.#exceeded(id, 'uncommitted operations', uncommitted, 1)
  }

  /** Checks that take longer. */
  sampled({ id, state, storage }: WmeParticipant): void {
    this.#checkWeight(id, state)
    const { durable, soft } = state
    const participants = this.#participants
    if (soft.newEpochs.length > participants + 1)
      this.#exceeded(id, 'NEWEPs', soft.newEpochs.length, participants + 1)
    if (soft.acknowledged.length > participants + 1) {
      this.#exceeded(id, 'acknowledgements', soft.acknowledged.length, participants + 1)
    }
    const counted = { joins: soft.joins, voters: soft.voters, incarnations: durable.epoch.incarnations }
    for (const [name, table] of Object.entries(counted)) {
      const size = Object.keys(table).length
      if (size > participants) this.#exceeded(id, name, size, participants)
    }
    const results = Object.keys(durable.replica.results).length
    if (results !== durable.replica.order.length) {
      violate('I19', `p${id} has ${results} results, but an order of ${durable.replica.order.length}`)
    }
    const { log, waiters, endings, replica } = durable
    // Six records are of a kind of their own; everything else is counted above.
    const listed = log.length + waiters.length + endings.length + replica.order.length
    const most = 6 + listed + Object.keys(replica.cells).length
    if (storage.size > most) this.#exceeded(id, 'storage', storage.size, most)
  }

  #exceeded(id: number, what: string, size: number, most: number): never {
    violate('I19', `p${id}: ${what} ${size}, at most ${most}`)
  }
}
