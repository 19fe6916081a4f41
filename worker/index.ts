/** The deployed Worker: the public router in front, the participants behind it. */
import type { BatonEnvironment } from './environment.ts'
import { defineBaton } from './library.ts'

const baton = defineBaton()

export const BatonParticipant = baton.Participant

export default { fetch: baton.fetch, connect: baton.connect } satisfies ExportedHandler<BatonEnvironment>
