/** What many tests say and look at. */
import type { ConsensusMessage } from '../../../shared/protocols/wme-consensus/messages.ts'
import { matchersOf } from '../matchers.ts'

export { countByType } from '../matchers.ts'
export {
  appliedAt,
  enter,
  eventsOf,
  exit,
  type Holder,
  holder,
  INCREMENT,
  issue,
  toldTo,
  valueAt,
  wish,
} from '../scenes.ts'

export const FORMS = ['latency-optimal', 'message-optimal'] as const

export const { ofType } = matchersOf<ConsensusMessage>()

/**
 * Long enough for a suspicion, for the others to share it, and for a new coordinator; shorter than a grant.
 */
export const REPLACEMENT_MS = 12_000
