/** The service, where locks that follow their work move after a few grants, and not twice in a test. */
import { FOLLOWING, type FollowingRules } from '../../shared/api/following.ts'
import { type BatonEnvironment, defineBaton } from '../../worker/library.ts'

const baton = defineBaton()

export class BatonParticipant extends baton.Participant {
  override followingRules(): FollowingRules {
    return { ...FOLLOWING, leastGrants: 5 }
  }
}

export default { fetch: baton.fetch } satisfies ExportedHandler<BatonEnvironment>
