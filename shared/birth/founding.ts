/**
 * Founding (G10): nobody votes before all processes were up together once. ledger.ts explains why no process
 * that has begun before is taken for new.
 */
import type { ParticipantId } from '../protocols/protocol.ts'
import { heal, takeNumber } from './healing.ts'
import {
  broadcast,
  COLLECTOR,
  drawNonce,
  isHealed,
  others,
  type Step,
  send,
  sendFounded,
  write,
} from './ledger-state.ts'
import type { FoundedRecord, Founding, LedgerMessage, LedgerRecord } from './ledger-types.ts'
import type { Incarnations } from './messages.ts'

export function gather(step: Step): void {
  const { record } = step.state
  if (record?.status !== 'blank') return
  broadcast(step, { type: 'gather', collector: record.nonce })
  foundIfComplete(step)
}

export function onGather(step: Step, from: ParticipantId, collector: string): void {
  const { record } = step.state
  if (record === null) return
  if (record.status === 'founded') return sendFounded(step, from)
  if (from !== COLLECTOR) return
  if (record.collector !== collector) {
    const earlier = [...record.earlier, record.nonce].slice(-NONCES_KEPT)
    write(step, { status: 'blank', nonce: drawNonce(step), collector, earlier })
  }
  const { nonce } = step.state.record as LedgerRecord
  const { isStrict } = step.context
  send(step, from, { type: 'blank', collector, nonce, ...(isStrict && { isStrict }) })
}

export function onBlank(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'blank' }): void {
  const { record, soft } = step.state
  const { collector, nonce, isStrict = false } = message
  if (record?.status !== 'blank' || record.nonce !== collector) return
  soft.gathered.set(from, { nonce, isStrict })
  foundIfComplete(step)
}

export function foundIfComplete(step: Step): void {
  const { record, soft } = step.state
  const { registrars } = step.context
  if (record?.status !== 'blank' || soft.gathered.size < registrars - 1) return
  const nonces = [record.nonce]
  for (let id = 2; id <= registrars; id++) nonces.push(soft.gathered.get(id)!.nonce)
  const isStrict = step.context.isStrict && [...soft.gathered.values()].every(one => one.isStrict)
  join(step, { collector: record.nonce, nonces, ...(isStrict && { isStrict }) })
}

/** How many collectors may be wiped one after the other before a founding is joined. */
const NONCES_KEPT = 8

/**
 * A process that is new joins; one that was wiped meanwhile finds that it is not among the founders.
 *
 * A process that has answered a later collector meanwhile joins an earlier founding only if another process
 * has joined that one: then the later collector can get no answer from that process, and there can be no
 * second founding.
 */
export function onFounded(
  step: Step,
  from: ParticipantId,
  founding: Founding,
  known: Incarnations,
  isSure: boolean,
): void {
  const { record } = step.state
  if (record === null || isHealed(step)) return
  if (record.status === 'blank') {
    const isEarlier = record.earlier.includes(founding.nonces[step.context.self - 1]!)
    if (isEarlier && (from === COLLECTOR || !isSure)) return
    join(step, founding)
  } else if (record.incarnation === 0 && isSure && record.founding.collector !== founding.collector)
    join(step, founding)
  const joined = step.state.record as FoundedRecord
  if (!isSure || joined.incarnation !== 0 || joined.founding.collector !== founding.collector) return
  takeNumber(step, from, known)
}

export function join(step: Step, founding: Founding): void {
  const { record, soft } = step.state
  const { nonce } = record as LedgerRecord
  const own = founding.nonces[step.context.self - 1]!
  const isNew = own === nonce || (record?.status === 'blank' && record.earlier.includes(own))
  soft.numbers.clear()
  write(step, {
    status: 'founded',
    founding,
    nonce,
    incarnation: isNew ? 1 : 0,
    isHealed: false,
    known: {},
  })
  if (!isNew) return broadcast(step, { type: 'hello' })
  if (step.context.self === COLLECTOR) for (const peer of others(step)) sendFounded(step, peer)
  heal(step, step.state.record as FoundedRecord)
}

export function onHello(step: Step, from: ParticipantId): void {
  const { record } = step.state
  if (record?.status === 'founded') sendFounded(step, from)
  else if (record !== null && step.context.self === COLLECTOR)
    send(step, from, { type: 'gather', collector: record.nonce })
}
