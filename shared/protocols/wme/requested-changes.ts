/** The changes of the members that operators have asked this participant for (../members/requests.ts). */
import { isInForce } from '../members/changes.ts'
import { createChangeRequests } from '../members/requests.ts'
import { elsewhere, isHandedOver } from './handover.ts'
import { restartRepeats } from './repeat.ts'
import { type Step, send } from './step.ts'

export const { onChangeMembers, settleChanges, wanted, repeatInvitations, noteNewcomer } =
  createChangeRequests<Step>({
    ofSet: ({ state }) => state.durable.epoch,
    isMember: ({ state }) => state.durable.membership.status === 'member',
    invite(step, newcomer) {
      send(step, newcomer, { type: 'invite', epoch: step.state.durable.epoch.epoch })
    },
    restartRepeats: step => restartRepeats(step),
    // An epoch that ends with a change that cannot be made has the same members after it.
    turn: ({ state }) => state.durable.epoch.epoch,
    isHandedOver: step => isHandedOver(step),
    refusal(step, change) {
      const { epoch, membership } = step.state.durable
      const isOver = membership.status === 'removed' && !isInForce(step.context.config, epoch, change)
      return isOver ? elsewhere(step) : null
    },
  })
