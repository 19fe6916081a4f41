/**
 * `delete`: an operator ends the lock. It is a user like others: it waits for its turn, and once it is
 * inside, so that nobody else is, it says the last word (shared/birth/ending.ts). With `force` it has whoever
 * is inside ejected until it is inside itself.
 *
 * An import that has failed ends what it has begun (`ifUnused`), and does no harm to anybody who was faster:
 * its own user leaves, and nobody is ejected. If somebody else holds the lock, waits for it or has done
 * something with it, it stays. So it does if the import is complete, and only the last answer got lost.
 */
import { END_OPERATION } from '../../../shared/birth/lock-core.ts'
import type { UserOutput } from '../../../shared/protocols/protocol.ts'
import { startFence } from '../../../shared/protocols/start-fence.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { boundToConnection } from '../core/connections.ts'
import { type Call, type CallContext, done, patienceOf, SETTLE_MS } from './context.ts'
import { ask, type Conversation } from './conversations.ts'
import { complete, isComplete, isUsed, used } from './import.ts'
import {
  cannotEnd,
  ejectedWhileDeleting,
  heldElsewhere,
  refusalProblem,
  unconfirmed,
  unknownGeneration,
} from './refusals.ts'
import { notDeleted } from './status.ts'

/** Part of the user's name. Of two that delete the lock at once, the second one waits for the first. */
const DELETING = '/delete'

const isDeleting = (user: string): boolean => user.endsWith(DELETING)

/** What the status of the lock calls it. */
const OWNER = 'DELETE'

/** The grant lasts as long as the call could. */
const TTL_MS = 30_000
/** How long holders are ejected, and how long each may take to leave. */
const FORCE_MS = 10_000
const EJECT_AGAIN_MS = 250

export function* end(context: CallContext, call: Call<'delete'>): Conversation<ParticipantAnswer> {
  const { member, configuration } = context
  const { generation } = member.engine.birth
  const wanted = call.generation ?? generation
  if (generation > wanted) return done(204, null)
  if (generation < wanted) return unknownGeneration(generation, wanted)
  const refusal = cannotEnd(configuration)
  if (refusal !== null) return refusal
  if (call.ifUnused) {
    if (call.importer !== undefined) member.leave(call.importer)
    const reason = whyItStays(context, call)
    if (reason !== null) return reason
  }
  const isHeldHere = member.view.holders.some(holder => !isDeleting(holder.user))
  if (isHeldHere && !call.force) return notDeleted(context)

  const user = boundToConnection(call.user + DELETING)
  const leave = () => member.leave(user)
  const entered = yield* enter(context, user, call, leave)
  // Whoever was about to eject the holder when another one ended the lock was not told so.
  if (member.engine.birth.generation > generation) return done(204, null)
  if (entered?.type === 'refused') return refusalProblem(entered.refusal)
  const holder = member.holderNamed(user)
  if (holder === undefined) {
    leave()
    return call.ifUnused ? heldElsewhere : notDeleted(context, call.force)
  }
  // Only who is inside knows all that was applied before.
  const reason = call.ifUnused ? whyItStays(context, call) : null
  if (reason !== null) {
    leave()
    return reason
  }
  return yield* sayLastWord(context, user, holder.fence, leave)
}

/** Whether anybody but the import has to do with the lock, or all of it is there, as far as is known here. */
function whyItStays(context: CallContext, { importer }: Call<'delete'>): ParticipantAnswer | null {
  const { holders, waiters } = context.member.view
  const isOther = ({ user }: { readonly user: string }) => !isDeleting(user) && user !== importer
  if (isComplete(context)) return complete
  return isUsed(context) || [...holders, ...waiters].some(isOther) ? used : null
}

/** Waits for the turn of this user, and makes the others go meanwhile if it is forced. */
function* enter(
  context: CallContext,
  user: string,
  { force, ifUnused }: Call<'delete'>,
  whenGone: () => void,
): Conversation<UserOutput | null> {
  const { member } = context
  const waitMs = force ? FORCE_MS : patienceOf(context, 0)
  const end = context.now() + waitMs
  const say = { type: 'try', user, ttlMs: TTL_MS, waitMs } as const
  context.owners.note(user, OWNER)
  const isEjecting = force && !ifUnused
  const until = () => (isEjecting ? Math.min(end, context.now() + EJECT_AGAIN_MS) : end)
  let event = yield* ask({ key: user, say, until: until(), isAnswer: isEntry, whenGone })
  while (isEjecting && event === null && context.now() < end && member.isWaiting(user)) {
    const request = context.newRequest()
    const soon = context.now() + EJECT_AGAIN_MS
    yield* ask({ key: request, say: { type: 'eject', request }, until: soon, isAnswer: () => true, whenGone })
    // It may have been let in, or refused, while it waited for that.
    if (!member.isWaiting(user)) break
    event = yield* ask({ key: user, say: null, until: until(), isAnswer: isEntry, whenGone })
  }
  return event
}

const isEntry = (event: UserOutput): boolean =>
  event.type === 'crit' || event.type === 'withdrawn' || (event.type === 'refused' && event.event === 'try')

const isAnswerToLastWord = ({ type }: UserOutput): boolean =>
  type === 'outcome' || type === 'ejected' || type === 'refused'

/** An outcome is the last thing that the lock says; a lock without a log says nothing at all. */
function* sayLastWord(
  context: CallContext,
  user: string,
  fence: number,
  whenGone: () => void,
): Conversation<ParticipantAnswer> {
  const { member } = context
  const { generation } = member.engine.birth
  if (member.guarded === null) {
    const { startEpoch } = member.engine.birth.value!
    member.engine.end(startEpoch, fence - startFence({ startEpoch }))
    return done(204, null)
  }
  const say = { type: 'issue', user, fence, opId: `delete/${user}`, operation: END_OPERATION } as const
  const until = context.now() + SETTLE_MS
  const event = yield* ask({ key: user, say, until, isAnswer: isAnswerToLastWord, whenGone })
  // Another participant may have heard first that a majority has it, and have told this one.
  if (event?.type === 'outcome' || member.engine.birth.generation > generation) return done(204, null)
  whenGone()
  return event?.type === 'ejected' ? ejectedWhileDeleting : unconfirmed
}
