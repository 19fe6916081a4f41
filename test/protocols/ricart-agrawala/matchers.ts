/** Matchers that select messages in flight. */
import type { RicartAgrawalaMessage } from '../../../shared/protocols/ricart-agrawala/messages.ts'
import { matchersOf } from '../matchers.ts'
import type { Sent } from './cluster.ts'

export { all, along, countByType, from, to } from '../matchers.ts'

export type Matcher = (sent: Sent) => boolean

export const { ofType } = matchersOf<RicartAgrawalaMessage>()
