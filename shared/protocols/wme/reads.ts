/**
 * Linearizable reads without the token (L24). Everything that was committed before the read is on a majority,
 * so in any majority the participant that is furthest ahead knows of it. Once this replica has applied as
 * much as that participant holds, it may answer. If the epoch ends meanwhile, the answers are worthless, and
 * the read asks again in the next one.
 */
import type { ParticipantId, UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { advanceCommitted } from './commit.ts'
import { assertSameLog, digestThrough, entryAt, lengthOf } from './log.ts'
import { isAlone, majorityOf } from './members.ts'
import type { ReadIndexMessage, ReadIndexReplyMessage } from './messages.ts'
import { restartRepeats } from './repeat.ts'
import { nextRound } from './soft.ts'
import type { Read } from './state.ts'
import { askForCatchUp, broadcast, emit, type Step, send } from './step.ts'

export function onRead(step: Step, event: Extract<UserInput, { type: 'read' }>): void {
  const { soft } = step.state
  const { request } = event
  if (soft.reads.some(read => read.request === request)) return
  if (soft.reads.length >= step.context.config.limits.waiters) {
    return refuse(step, request, 'read', { code: 'too-many-waiters' })
  }
  soft.reads.push({ request, epoch: null, round: '', answered: [], target: 0 })
}

export function onCancelRead(step: Step, event: Extract<UserInput, { type: 'cancel-read' }>): void {
  const { soft } = step.state
  soft.reads = soft.reads.filter(read => read.request !== event.request)
}

/**
 * Called at the end of each step: reads that were not asked in this epoch are asked, and those that are
 * answered are over.
 */
export function proceedReads(step: Step): void {
  const { durable, soft } = step.state
  if (soft.reads.length === 0 || durable.epoch.sealed) return
  for (const read of soft.reads) if (read.epoch !== durable.epoch.epoch) ask(step, read)
  const isReadable = (read: Read) =>
    read.answered.filter(Boolean).length >= majorityOf(step) && soft.committed >= read.target
  for (const read of soft.reads) {
    if (isReadable(read)) emit(step, { type: 'readable', request: read.request, sequence: soft.committed })
  }
  soft.reads = soft.reads.filter(read => !isReadable(read))
}

function ask(step: Step, read: Read): void {
  const { durable, soft } = step.state
  const { self } = step.context.config
  read.epoch = durable.epoch.epoch
  read.round = nextRound(soft)
  read.answered = new Array(soft.acknowledged.length).fill(false)
  read.answered[self] = true
  read.target = lastOperation(step)
  broadcast(step, { type: 'read-index', epoch: read.epoch, round: read.round })
  if (!isAlone(step)) restartRepeats(step)
}

export function repeatReads(step: Step): void {
  for (const { epoch, round } of step.state.soft.reads) {
    if (epoch !== null) broadcast(step, { type: 'read-index', epoch, round })
  }
}

/** A grant changes nothing that can be read, so a read never waits for one. */
function lastOperation(step: Step): number {
  const { durable, soft } = step.state
  for (let at = lengthOf(durable); at > soft.committed; at--) {
    if (entryAt(durable, at)!.kind === 'operation') return at
  }
  return soft.committed
}

export function onReadIndex(step: Step, from: ParticipantId, message: ReadIndexMessage): void {
  const { epoch, round } = message
  const { committed } = step.state.soft
  const digest = digestThrough(step.state.durable, committed)
  const operations = lastOperation(step)
  send(step, from, { type: 'read-index-reply', epoch, round, committed, digest, operations })
}

export function onReadIndexReply(step: Step, from: ParticipantId, message: ReadIndexReplyMessage): void {
  const { durable, soft } = step.state
  const read = soft.reads.find(waiting => waiting.round === message.round)
  if (read === undefined) return
  assertSameLog(durable, message.committed, message.digest)
  read.answered[from] = true
  read.target = Math.max(read.target, message.operations)
  advanceCommitted(step, message.committed)
  if (read.target > lengthOf(durable)) askForCatchUp(step, from)
}
