/**
 * Who is told that something is not done has not done it, and never will: whatever became of a lock, somebody
 * wanted it who was not told so.
 */
import type { MembersChange } from '../../../shared/api/members-change.ts'
import type { MembersEvent } from '../../../shared/history/events.ts'
import { violate } from '../violation.ts'
import { type Asked, isOfCall, isRefused } from './asked.ts'
import { MOVING } from './plan-moves.ts'
import { isDefault, mayBeWished } from './wishes.ts'
import type { World } from './world.ts'

/** What happened to a lock, and who may have wanted that. */
interface Deed {
  readonly what: string
  readonly at: number
  readonly isWantedBy: (asked: Asked) => boolean
}

export function judgeOutcomes(world: World, lock: string): void {
  const { asked, callsRefused } = world.journal
  const ofLock = asked.filter(one => one.lock === lock)
  const isOfRefusedCall = (one: Asked) => callsRefused.some(call => isOfCall(one, call))
  for (const { what, at, isWantedBy } of [
    ...choices(world, lock),
    ...endings(world, lock),
    ...ejections(world, lock),
    ...changes(world, lock),
  ]) {
    const wanted = ofLock.filter(one => one.begunAt <= at && isWantedBy(one))
    if (wanted.length === 0) continue
    world.counts.deedsJudged++
    if (wanted.some(one => !isRefused(one) && !isOfRefusedCall(one))) continue
    const who = wanted.map(({ by, begunAt }) => `${by} at ${begunAt.toFixed(2)}`).join(', ')
    violate('outcomes', `${lock}: ${what}, and who asked for that was told that it was not done: ${who}`)
  }
}

function* generationsOf(world: World, lock: string): Iterable<number> {
  for (let generation = 1; generation <= world.latestGeneration(lock); generation++) yield generation
}

/** A lock of the defaults comes into being by itself. */
function* choices(world: World, lock: string): Iterable<Deed> {
  for (const generation of generationsOf(world, lock)) {
    const chosen = world.generations.chosenOf(lock, generation)
    if (chosen === null || isDefault(world, chosen.configuration)) continue
    const { configuration, at } = chosen
    yield {
      what: `generation ${generation} is made of ${JSON.stringify(configuration)}`,
      at,
      isWantedBy: one => one.wanted === 'configure' && mayBeWished(world, configuration, one),
    }
  }
}

function* endings(world: World, lock: string): Iterable<Deed> {
  for (const generation of generationsOf(world, lock)) {
    const at = world.generations.endedAt(lock, generation)
    if (at === null) continue
    const isMeant = ({ query }: Asked) => Number(query.get('generation') ?? generation) === generation
    const isWantedBy = (one: Asked) => one.wanted === 'delete' && isMeant(one)
    yield { what: `generation ${generation} was deleted`, at, isWantedBy }
  }
}

/**
 * Whoever is at a participant that is removed is forced out as well; and so is whoever is in the way of a
 * forced `DELETE`, which may yet come to nothing.
 */
function* ejections(world: World, lock: string): Iterable<Deed> {
  if (lock === MOVING) return
  const isForced = ({ wanted, query }: Asked) => wanted === 'delete' && query.get('force') === 'true'
  const forced = world.journal.asked.filter(one => one.lock === lock && isForced(one))
  for (const generation of generationsOf(world, lock)) {
    for (const event of world.histories.eventsOf(lock, generation)) {
      if (event.type !== 'ejected' || event.reason !== 'operator') continue
      const { fence, at } = event
      if (forced.some(({ begunAt }) => begunAt <= at)) continue
      const isWantedBy = ({ wanted, body }: Asked) => wanted === 'eject' && (body.fence ?? fence) === fence
      yield { what: `the holder with fence ${fence} was forced out`, at, isWantedBy }
    }
  }
}

/** Each set of participants follows from the one before by what an operator wanted. */
function* changes(world: World, lock: string): Iterable<Deed> {
  for (const generation of generationsOf(world, lock)) {
    const born = world.generations.chosenOf(lock, generation)?.configuration.participants ?? []
    let before = born.map(({ id }) => id)
    for (const { members, at, by } of setsOf(world, lock, generation)) {
      const ids = members.map(({ id }) => id)
      const former = before
      before = ids
      if (by !== 'operator') continue
      const isWantedBy = ({ wanted, body }: Asked) =>
        wanted === 'members' && mayLeadTo(body as unknown as MembersChange, former, ids)
      yield { what: `the participants ${former} of generation ${generation} became ${ids}`, at, isWantedBy }
    }
  }
}

/** In their order, each as it was first heard of. */
function setsOf(world: World, lock: string, generation: number): MembersEvent[] {
  const sets = new Map<number, MembersEvent>()
  for (const event of world.histories.eventsOf(lock, generation))
    if (event.type === 'members' && !sets.has(event.configuration)) sets.set(event.configuration, event)
  return [...sets.values()].sort((one, other) => one.configuration - other.configuration)
}

function mayLeadTo(change: MembersChange, before: readonly number[], after: readonly number[]): boolean {
  const gone = before.filter(id => !after.includes(id))
  const isGone = (id: number) => gone.length === 1 && gone[0] === id
  const grownBy = after.length - before.length
  if ('add' in change) return gone.length === 0 && grownBy === 1
  if ('remove' in change) return isGone(change.remove) && grownBy === -1
  if ('replace' in change) return isGone(change.replace) && grownBy === 0
  return change.participants.length === after.length
}
