/** Locks that get other participants: what surrounds the protocols, and locks that follow their work. */
import type { Mutant } from './catalogue.ts'

const CHANGE = 'shared/api/members-change.ts'
const FOLLOWING = 'shared/api/following.ts'
const MOVES = 'worker/participant/core/following.ts'
const MOVING = 'shared/birth/moving.ts'

export const movingMutants: Mutant[] = [
  {
    id: 'moving-guesses-places',
    trap: 'moving',
    title: 'a participant whose place nobody knows is looked for in this process, and made there',
    file: 'worker/participant/lock/whereabouts.ts',
    find: 'return heard === undefined ? null : placeAt(peer, heard, registrars)',
    replace:
      'return heard === undefined ? { id: peer, location: null, url: null } : placeAt(peer, heard, registrars)',
  },
  {
    id: 'moving-members-outlive-the-lock',
    trap: 'moving',
    title: 'a lock that was deleted leaves its members to the next one of its name',
    file: 'shared/birth/generation.ts',
    find: 'const { members: _, unmoved: __, ...birth } = step.state.birth',
    replace: 'const { unmoved: __, ...birth } = step.state.birth',
  },
  {
    id: 'moving-older-hints',
    trap: 'moving',
    title: 'what a registrar hears late brings back members that are none any more',
    file: MOVING,
    find: 'if (configuration > (step.state.birth.members?.configuration ?? 0))',
    replace: 'if (configuration > 0)',
  },
  {
    id: 'moving-numbers-of-registrars',
    trap: 'moving',
    title: 'a new participant gets the number of a default one',
    file: CHANGE,
    find: 'const first = Math.max(present.highest, present.processes.length) + 1',
    replace: 'const first = present.highest + 1',
  },
  {
    id: 'moving-adds-again',
    trap: 'moving',
    title: 'all changes have the same name, so that the second one is taken for the first',
    file: CHANGE,
    find: 'digest(change as unknown as Json)',
    replace: 'digest(Object.keys(change) as Json)',
  },
  {
    id: 'moving-into-a-full-process',
    trap: 'moving',
    title: 'a process gets two participants of a lock',
    file: CHANGE,
    find: '    taken.add(free.id)\n',
    replace: '',
  },
  {
    id: 'moving-any-address',
    trap: 'moving',
    title: 'what is no address is taken for one',
    file: 'shared/api/member-address.ts',
    find: '@([1-9]\\d{0,3})?$/',
    replace: '@(\\w*)$/',
  },
  {
    id: 'follows-a-minority',
    trap: 'moving',
    title: 'a lock moves although only half of its work is there',
    file: FOLLOWING,
    find: 'count * 2 <= grants',
    replace: 'count * 2 < grants',
  },
  {
    id: 'follows-next-door',
    trap: 'moving',
    title: 'a lock moves to where it is already',
    file: FOLLOWING,
    find: 'distance === null || distance < SAME_KM',
    replace: 'distance === null',
  },
  {
    id: 'follows-all-the-time',
    trap: 'moving',
    title: 'a lock moves again as soon as it can',
    file: MOVES,
    find: 'if (changedAt !== null && changedAt <= now && now - changedAt < everyMs) return null',
    replace: 'if (changedAt !== null && changedAt > now) return null',
  },
  {
    id: 'follows-what-was',
    trap: 'moving',
    title: 'grants of long ago count',
    file: MOVES,
    find: 'const isRecent = (at: number) => at <= now && now - at < windowMs',
    replace: 'const isRecent = (at: number) => at <= now && windowMs > 0',
  },
]
