/**
 * A refusal says who holds the lock, whichever participant refused: only the holder's own participant knows
 * what the holder calls itself, and since when. All are asked at once, but for those that were silent lately;
 * what nobody says in time is left out.
 *
 * If nobody is known to hold it, the lock may have no majority. Then waiting for it is in vain, and the
 * refusal says that instead.
 */
import { lockedDetail } from '../../shared/api/locked.ts'
import type { Json } from '../../shared/json.ts'
import { majority } from '../../shared/protocols/quorum.ts'
import type { HolderStatus, ParticipantStatus } from '../participant/calls.ts'
import type { Services } from './context.ts'
import { askAll } from './handlers/locks.ts'
import { latestHolder, waitingIn } from './lock-status.ts'
import type { ProblemAnswer, Routed } from './routing.ts'

/** A round trip between any two places. Whoever is refused has waited already. */
const ASK_MS = 1_000

/** What those that answered know of the lock; some may know of no such lock. */
interface Views {
  readonly answered: ReadonlySet<number>
  readonly views: ReadonlyMap<number, ParticipantStatus>
}

export async function tellHolder(services: Services, lock: string, answer: Routed): Promise<Routed> {
  if (answer.type !== 'problem' || answer.code !== 'locked') return answer
  const first = await ask(services, lock, id => services.routing.silentMs(lock, id) === undefined)
  if (isSaid(answer, first) || isMajority(services, lock, first)) return withHolder(answer, first)
  // Those that were silent lately may be back.
  const second = await ask(services, lock, id => !first.answered.has(id))
  const all = {
    answered: new Set([...first.answered, ...second.answered]),
    views: new Map([...first.views, ...second.views]),
  }
  const isLocked = isSaid(answer, all) || isMajority(services, lock, all)
  return isLocked ? withHolder(answer, all) : withoutMajority(services, lock, answer, all)
}

/** The same for a refusal that says itself all that is to be said of the holder. */
export async function tellMajority<Answer extends Routed>(
  services: Services,
  lock: string,
  answer: Answer,
): Promise<Answer | ProblemAnswer> {
  if (answer.type !== 'problem' || answer.code !== 'locked') return answer
  const views = await ask(services, lock, () => true)
  const isLocked = isSaid(answer, views) || isMajority(services, lock, views)
  return isLocked ? answer : withoutMajority(services, lock, answer, views)
}

async function ask(services: Services, lock: string, isAsked: (id: number) => boolean): Promise<Views> {
  const answers = await askAll<ParticipantStatus>(
    services,
    lock,
    ({ id }) => (isAsked(id) ? { type: 'status' } : null),
    Math.min(ASK_MS, services.times.statusMs),
  )
  // Those that have left the lock may answer as well.
  const { participants } = services.routing.configurationOf(lock)
  const present = participants.filter(({ id }) => answers.has(id) || answers.problems.has(id))
  return { answered: new Set(present.map(({ id }) => id)), views: answers }
}

/** Whether somebody is known to hold the lock. */
const isSaid = (answer: ProblemAnswer, views: Views): boolean => holderIn(answer, views) !== null

function isMajority({ routing }: Services, lock: string, { answered }: Views): boolean {
  return answered.size >= majority(routing.configurationOf(lock).participants.length)
}

function withoutMajority(
  { routing }: Services,
  lock: string,
  { outcome }: ProblemAnswer,
  { answered }: Views,
): ProblemAnswer {
  const { length } = routing.configurationOf(lock).participants
  const who = `${answered.size} of its ${length} participants answer`
  return {
    type: 'problem',
    code: 'no_quorum',
    detail: `Nobody is known to hold this lock, but only ${who}, and it needs ${majority(length)}.`,
    retryAfterSeconds: 1,
    ...(outcome !== undefined && { outcome }),
  }
}

function withHolder(answer: ProblemAnswer, all: Views): ProblemAnswer {
  const holder = holderIn(answer, all)
  const more = {
    ...answer.more,
    ...(holder !== null && { holder: holder as unknown as Json }),
    waiting: waitingIn(all.views) as unknown as Json,
  }
  return { ...answer, detail: lockedDetail(holder), more }
}

function holderIn(answer: ProblemAnswer, { views }: Views): HolderStatus | null {
  const told = (answer.more?.holder ?? null) as unknown as HolderStatus | null
  const found = latestHolder([...views.values()])
  return told !== null && (found === null || told.fence > found.fence) ? told : found
}
