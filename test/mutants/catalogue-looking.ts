/** Looking at locks, and routers and watchers that find what they ask for elsewhere, or gone. */
import type { Mutant } from './catalogue.ts'

const BIRTH = 'shared/birth'
const STREAMS = 'worker/participant/streams'
const ROUTER = 'worker/router'

const looks: Mutant[] = [
  {
    id: 'look-outlives-the-lock',
    trap: 'G2',
    title: 'a lock that is deleted while somebody looks at it is born again',
    file: `${BIRTH}/generation.ts`,
    find: "    if (soft.wish === 'look') soft.wish = 'none'\n",
    replace: '',
  },
  {
    id: 'asked-for-a-deleted-lock',
    trap: 'G12',
    title: 'whoever asked what a lock is brings the next one of its name into being',
    file: `${BIRTH}/generation.ts`,
    find: '  soft.askers.clear()\n',
    replace: '',
  },
  {
    id: 'look-never-answered',
    trap: 'G12',
    title: 'whoever looks at a lock while it is deleted waits in vain',
    file: 'worker/participant/lock/lock.ts',
    find: "if (event.type === 'ended') this.tellUsers(event, ({ intent }) => intent === 'look')",
    replace: "if (event.type === 'ended') continue",
  },
  {
    id: 'look-wakes-the-first-owner',
    trap: 'G2',
    title: 'a look at a participant that is no registrar makes the first owner begin another lock',
    file: `${BIRTH}/drive.ts`,
    find: "tellRegistrars(step, { type: 'wake', ...(isOnlyLook(step) && { isLook: true as const }) })",
    replace: "tellRegistrars(step, { type: 'wake' })",
  },
  {
    id: 'look-served-by-a-guess',
    trap: 'G2',
    title: 'whoever looks is served by a core that has only asked',
    file: 'worker/participant/lock/lock.ts',
    find: "!isTentative || intent === 'try'",
    replace: 'isTentative || intent !== null',
  },
  {
    id: 'look-forgotten-after-a-guess',
    trap: 'G2',
    title: 'whoever looks waits in vain once somebody else has begun to try',
    file: `${BIRTH}/drive.ts`,
    find: "    soft.wish = soft.isLookedAt ? 'look' : 'none'\n",
    replace: "    soft.wish = 'none'\n",
  },
  {
    id: 'untold-of-before-forgotten',
    trap: 'G12',
    title: 'one that missed the end of a lock is not told after the next one has ended, too',
    file: `${BIRTH}/ending.ts`,
    find: '[...present, ...placedUntold(step).filter(isNew)]',
    replace: '[...present]',
  },
  {
    id: 'untold-by-number-alone',
    trap: 'G12',
    title: 'one that missed the end counts as told when another machine with its number speaks',
    file: `${BIRTH}/ending.ts`,
    find: "one.id === peer && one.address === (address ?? '')",
    replace: 'one.id === peer',
  },
  {
    id: 'untold-sent-to-the-number',
    trap: 'G12',
    title: 'the end is told to whoever has the number now',
    file: `${BIRTH}/ending.ts`,
    find: "{ type: 'ended' }, MESSAGE_FORMAT, peer.address)",
    replace: "{ type: 'ended' })",
  },
]

const watchers: Mutant[] = [
  {
    id: 'hint-outlives-its-source',
    trap: 'holder',
    title: 'a participant that is watched asks one that is gone for ever',
    file: `${STREAMS}/holder-news.ts`,
    find: '      else this.hint = null\n',
    replace: '',
  },
  {
    id: 'first-holder-stays',
    trap: 'holder',
    title: 'a watcher that resumes before the first operation is not told that its holder has left',
    file: `${STREAMS}/holder-knowledge.ts`,
    find: '  believes: since !== null,\n',
    replace: '  believes: since !== null && since > 0,\n',
  },
  {
    id: 'page-and-event',
    trap: 'watch',
    title: 'what a page has told is told once more as it happens',
    file: `${STREAMS}/watchers.ts`,
    find: ' || event.sequence <= watcher.pagedThrough) continue',
    replace: ') continue',
  },
]

const routers: Mutant[] = [
  {
    id: 'locate-believes-the-first',
    trap: 'moving',
    title: 'a participant that missed a change of the members ends the grants of those that came',
    file: `${ROUTER}/routing.ts`,
    find: "if (sets.every(one => one === 'none' || (one !== 'unknown' && isTheSame(one)))) return null",
    replace: 'if (sets.length > 0) return null',
  },
  {
    id: 'locate-never-sure',
    trap: 'moving',
    title: 'a grant of a participant that is none any more is never over',
    file: `${ROUTER}/routing.ts`,
    find: 'if (fence !== undefined && set.number > fence) return null',
    replace: '',
  },
  {
    id: 'number-is-a-machine',
    trap: 'moving',
    title: 'a grant is looked for at the machine that had the number in the lock that was deleted',
    file: `${ROUTER}/routing.ts`,
    find: 'if (isSilent && (place.address === undefined || plan.isOver?.())) return',
    replace: 'if (isSilent) return',
  },
  {
    id: 'status-of-those-that-are-gone',
    trap: 'life',
    title: 'if all participants that a router knows are gone, it asks nobody what has become of the lock',
    file: `${ROUTER}/handlers/locks.ts`,
    find: 'known.length > 0 || isAnswered ? known : routing.defaultsOf(lock).filter(isNew)',
    replace: 'known',
  },
  {
    id: 'delete-whatever-there-is',
    trap: 'life',
    title: 'a delete that nobody could say the generation of ends the next lock',
    file: `${ROUTER}/handlers/ends.ts`,
    find: "      if (generation === null) return problemResponse(c, 'no_quorum', NOBODY, { retryAfterSeconds: 1 })\n",
    replace: '',
  },
  {
    id: 'nobody-is-first',
    trap: 'first use',
    title: 'a lock whose participants are equally near is born with three ballots',
    file: `${ROUTER}/nearest.ts`,
    find: '(id === first ? 0 : id)',
    replace: 'id',
  },
]

export const lookingMutants: Mutant[] = [...looks, ...watchers, ...routers]
