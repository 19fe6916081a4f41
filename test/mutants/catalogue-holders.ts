/** What watchers are told of holders: those that leave, and those that the log does not know. */
import type { Mutant } from './catalogue.ts'

const STREAMS = 'worker/participant/streams'
const TRAP = 'watch'

export const holderMutants: Mutant[] = [
  {
    id: 'holder-leaves-untold',
    trap: TRAP,
    title: 'watchers are not told that nobody holds the lock any more',
    file: `${STREAMS}/holder-knowledge.ts`,
    find: '    if (!isFree || !told.believes || told.fence > over) return null\n',
    replace: '    if (!isFree || told.believes || told.fence > over) return null\n',
  },
  {
    id: 'holder-told-twice',
    trap: TRAP,
    title: 'the log tells a holder once more that was told before it was committed',
    file: `${STREAMS}/holder-knowledge.ts`,
    find: '  if (fence <= told.fence) return false\n',
    replace: '  if (fence < told.fence) return false\n',
  },
  {
    id: 'holder-resumed-from-its-grant',
    trap: TRAP,
    title: 'watchers resume after the number of a grant that may be rolled back',
    file: `${STREAMS}/holder-knowledge.ts`,
    find: '    text: isMore ? text : withId(sequence, text),\n',
    replace: '    text: isMore ? text : withId(fence, text),\n',
  },
  {
    id: 'holder-over-while-others-hold',
    trap: TRAP,
    title: 'a participant without the token calls all grants over that it has heard of',
    file: `${STREAMS}/holder-knowledge.ts`,
    find: "  const isFree = phase === 'token-held' || owner === null\n",
    replace: "  const isFree = phase !== 'nothing' || owner === null\n",
  },
  {
    id: 'holder-late-news',
    trap: TRAP,
    title: 'news of a holder that has left brings it back',
    file: `${STREAMS}/holder-knowledge.ts`,
    find: '    if (holder === null || holder.fence <= this.over) return\n',
    replace: '    if (holder === null) return\n',
  },
  {
    id: 'holder-resumed-unasked',
    trap: TRAP,
    title: 'whoever resumes is not told that the holder has left meanwhile',
    file: `${STREAMS}/holder-knowledge.ts`,
    find: '  believes: since !== null,\n',
    replace: '  believes: since === -1,\n',
  },
  {
    id: 'holder-lease-unused',
    trap: TRAP,
    title: 'the owner tells nobody of its holders',
    file: `${STREAMS}/watch-leases.ts`,
    find: '    for (const lease of this.leases.values()) this.tell(lease)\n',
    replace: '',
  },
  {
    id: 'holder-lease-for-ever',
    trap: TRAP,
    title: 'the owner goes on telling a participant that nobody watches',
    file: `${STREAMS}/watch-leases.ts`,
    find: "      if (answer?.type !== 'heard' || !answer.isWatched) this.leases.delete(lease.peer)\n",
    replace: "      if (answer?.type !== 'heard') this.leases.delete(lease.peer)\n",
  },
  {
    id: 'holder-lease-many-requests',
    trap: TRAP,
    title: 'the owner tells each change at once, however many requests are under way',
    file: `${STREAMS}/watch-leases.ts`,
    find: '    if (lease.isTelling || lease.told === summary(host.sighting())) return\n',
    replace: '    if (lease.told === summary(host.sighting())) return\n',
  },
  {
    id: 'holder-asked-once',
    trap: TRAP,
    title: 'the owner is not asked again, so that news that gets lost is lost',
    file: `${STREAMS}/holder-news.ts`,
    find: '    this.asked = null\n    this.askIfDue()\n  }\n\n  // ---',
    replace: '    this.askIfDue()\n  }\n\n  // ---',
  },
  {
    id: 'holder-of-another-generation',
    trap: TRAP,
    title: 'news of a lock that was deleted is taken for news of the one of its name',
    file: `${STREAMS}/holder-news.ts`,
    find: '    if (!isWatched || generation !== member.engine.birth.generation) return false\n',
    replace: '    if (!isWatched || member.engine.birth.generation < 0) return false\n',
  },
  {
    id: 'holder-not-asked-after-end',
    trap: TRAP,
    title: 'an answer about a lock that was deleted ends the asking about the next one',
    file: `${STREAMS}/holder-news.ts`,
    find: '      if (!this.host.isWatched) return\n',
    replace:
      '      if (!this.host.isWatched || generation !== this.host.member.engine.birth.generation) return\n',
  },
]
