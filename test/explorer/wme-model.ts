/** Weak mutual exclusion as the explorer sees it. */
import type { Protocol } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { COVERAGE_GOALS, noteStep } from './coverage-goals.ts'
import { checkPair } from './invariants-pair.ts'
import { checkSeat } from './invariants-seat.ts'
import { checkStep } from './invariants-step.ts'
import { menuOf } from './menu.ts'
import type { Model } from './model.ts'
import { normalise } from './normalise.ts'
import { recorded } from './seat.ts'

export type WmeProtocol = Protocol<WmeState, WmeMessage>

export const wmeModel = (protocol: WmeProtocol): Model<WmeState, WmeMessage> => ({
  protocol,
  mayReduce: true,
  coverageGoals: COVERAGE_GOALS,
  recorded,
  normalise: (_context, state) => normalise(protocol.name, state),
  checkStep,
  noteStep,
  checkSeat: (findings, context, seat) => checkSeat(findings, context, protocol, seat),
  checkPair,
  menuOf,
})
