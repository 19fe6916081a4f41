/** Protocols that are broken on purpose, to see that the table notices. */

import type { ProtocolOf } from '../../bench/tables/subjects.ts'
import { type AnyProtocol, type OpaqueMessage, protocolNamed } from '../../shared/protocols/all.ts'
import type { Effect } from '../../shared/protocols/protocol.ts'

type Effects = Effect<OpaqueMessage>[]

/** The same protocol with changed effects. */
const changing =
  (change: (effects: Effects) => Effects): ProtocolOf =>
  name => {
    const protocol = protocolNamed(name)
    const broken: AnyProtocol = {
      ...protocol,
      step: (context, state, input) => change(protocol.step(context, state, input)),
    }
    return broken
  }

const isSend = (effect: Effect<OpaqueMessage>, type: string): boolean =>
  effect.type === 'send' && effect.message.body.type === type

/** Every message of this type is sent twice. */
export const sendingTwice = (type: string): ProtocolOf =>
  changing(effects => effects.flatMap(effect => (isSend(effect, type) ? [effect, effect] : [effect])))

/** The first message of this type in a step is sent twice. */
export const sendingOneTwice = (type: string): ProtocolOf =>
  changing(effects => {
    const first = effects.find(effect => isSend(effect, type))
    return first === undefined ? effects : [...effects, first]
  })
