/**
 * I16: epoch, applied, committed and promised never fall, not even across crashes. Neither does the length of
 * the log within an epoch, since it was acknowledged. What was lost with the storage does not count.
 */
import type { PaxosRecord, Progress } from '../../../shared/protocols/wme/state.ts'
import { violate } from '../violation.ts'
import { lengthOf, type WmeParticipant } from './wme-participant.ts'

interface Marks {
  epoch: number
  length: number
  applied: number
  /** Known to this process only; a restart begins with what is applied. */
  committed: number
  promised: number
  sealed: boolean
}

const noMarks = (): Marks => ({ epoch: -1, length: 0, applied: 0, committed: 0, promised: 0, sealed: false })

export class Monotonic {
  readonly #marks: Marks[]

  constructor(participants: number) {
    this.#marks = Array.from({ length: participants + 1 }, noMarks)
  }

  /** Called after a save, and whenever what is in memory may have changed. */
  stepped(participant: WmeParticipant): void {
    const { id, state } = participant
    const { epoch, progress, paxos } = state.durable
    if (state.durable.membership.status !== 'member') return
    const marks = this.#marks[id]!
    if (epoch.epoch < marks.epoch)
      violate('I16', `the epoch of p${id} falls from ${marks.epoch} to ${epoch.epoch}`)
    const isSame = epoch.epoch === marks.epoch
    const length = lengthOf(state)
    if (isSame && length < marks.length) {
      violate('I16', `the log of p${id} falls from ${marks.length} to ${length} within epoch ${epoch.epoch}`)
    }
    // The log up to the start of the epoch was decided; a participant that has entered the epoch has it.
    if (length < epoch.start)
      violate('I5', `p${id} is in epoch ${epoch.epoch} from ${epoch.start}, its log ends at ${length}`)
    if (isSame && marks.sealed && !epoch.sealed)
      violate('I16', `p${id} unseals epoch ${epoch.epoch} without a decision`)
    if (isSame && paxos.promised < marks.promised) {
      violate('I16', `the promise of p${id} falls from ${marks.promised} to ${paxos.promised}`)
    }
    if (progress.applied < marks.applied) {
      violate('I16', `p${id} has applied ${progress.applied}, and had ${marks.applied} before`)
    }
    if (state.soft.committed < marks.committed) {
      violate(
        'I16',
        `the committed sequence of p${id} falls from ${marks.committed} to ${state.soft.committed}`,
      )
    }
    marks.epoch = epoch.epoch
    marks.sealed = epoch.sealed
    marks.length = length
    marks.promised = paxos.promised
    marks.applied = progress.applied
    marks.committed = state.soft.committed
  }

  /** From here on only storage counts. */
  crashed({ id, storage }: WmeParticipant): void {
    const marks = this.#marks[id]!
    const progress = storage.get('progress') as Progress | undefined
    const paxos = storage.get('paxos') as PaxosRecord | undefined
    marks.committed = 0
    if (progress !== undefined && progress.applied < marks.applied) {
      violate('I16', `the storage of p${id} has applied ${progress.applied}, and had ${marks.applied} before`)
    }
    if ((paxos?.promised ?? 0) < marks.promised && this.#isStoredEpoch(storage, marks.epoch)) {
      violate('I16', `the storage of p${id} has lost the promise ${marks.promised}`)
    }
  }

  #isStoredEpoch(storage: WmeParticipant['storage'], epoch: number): boolean {
    return (storage.get('epoch') as { epoch: number } | undefined)?.epoch === epoch
  }

  /** What was applied and not written yet will be applied again. Everything else stays as it was. */
  fellBack({ id, storage }: WmeParticipant): void {
    const progress = storage.get('progress') as Progress | undefined
    this.#marks[id]!.applied = progress?.applied ?? 0
  }

  wiped({ id }: WmeParticipant): void {
    this.#marks[id] = noMarks()
  }
}
