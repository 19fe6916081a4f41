/**
 * What a participant that is no member (yet, again, or any more) does with messages, and the help that such a
 * participant gets. Everything else that is said is for members (wme.ts).
 */
import type { ParticipantId } from '../protocol.ts'
import * as snapshots from '../snapshots.ts'
import * as catchUp from './catch-up.ts'
import * as learner from './learner.ts'
import { onJoinElsewhere } from './membership.ts'
import type { WmeMessage } from './messages.ts'
import { sendAlive } from './pre-vote.ts'
import type { Step } from './step.ts'

/** A participant that is no member speaks only of that, and takes help. */
export function onMessageWhenJoining(step: Step, from: ParticipantId, message: WmeMessage): void {
  if (isHelp(message)) return onHelp(step, from, message)
  switch (message.type) {
    case 'elsewhere':
      return learner.onElsewhere(step, from, message)
    case 'invite':
    case 'handover':
      return learner.sendJoinTo(step, from)
    default:
      if ('epoch' in message) learner.onContact(step, from, message.epoch)
  }
}

/** A participant that was removed has no say, but helps others as long as it has something to help with. */
export function onMessageWhenRemoved(step: Step, from: ParticipantId, message: WmeMessage): void {
  const { durable } = step.state
  if (isHelp(message) || message.type === 'elsewhere' || message.type === 'installed') return
  if (durable.membership.status === 'removed' && !durable.membership.hasData) {
    const isBehind = !('epoch' in message) || message.epoch < durable.epoch.epoch
    return isBehind ? learner.sendElsewhere(step, from) : undefined
  }
  switch (message.type) {
    case 'join':
      return onJoinElsewhere(step, from, message)
    case 'catch-up-request':
      // One that is further needs nothing from here, and has nothing for this participant.
      return message.epoch > durable.epoch.epoch ? undefined : catchUp.sendCatchUp(step, from, message)
    case 'snapshot-request':
      return catchUp.onSnapshotRequest(step, from, message)
    default:
      if (message.epoch < durable.epoch.epoch) sendAlive(step, from)
  }
}

export type HelpMessage = Extract<
  WmeMessage,
  { type: 'catch-up' | 'snapshot-offer' | 'snapshot-page' | 'snapshot-gone' }
>

/** Help for a participant that is behind, or not a member yet. */
export const isHelp = (message: WmeMessage): message is HelpMessage =>
  message.type === 'catch-up' ||
  message.type === 'snapshot-offer' ||
  message.type === 'snapshot-page' ||
  message.type === 'snapshot-gone'

export function onHelp(step: Step, from: ParticipantId, message: HelpMessage): void {
  switch (message.type) {
    case 'catch-up':
      return catchUp.onCatchUp(step, from, message)
    case 'snapshot-offer':
      return catchUp.onSnapshotOffer(step, from, message)
    case 'snapshot-page':
      return catchUp.onSnapshotPage(step, from, message)
    case 'snapshot-gone':
      return snapshots.onSnapshotGone(step, from, message)
    default:
      return message satisfies never
  }
}
