/** Matchers that select messages in flight. */
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import { matchersOf } from '../matchers.ts'
import type { Sent } from './cluster.ts'

export { all, among, countByType, from, not, to } from '../matchers.ts'

export type Matcher = (sent: Sent) => boolean

export const { ofType, bodies } = matchersOf<WmeMessage>()
