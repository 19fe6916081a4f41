/** What happens to a lock, in words. */
import type { ParticipantInfo, Status } from '../../client/types.ts'
import type { WatchEvents } from '../../shared/api/watch.ts'
import type { HolderPicture, NewsPicture } from '../view/lock-picture.ts'
import { participantName, plural } from '../view/words.ts'

type News = Omit<NewsPicture, 'at'>

export function grantWords(holder: HolderPicture, location: string | null): string {
  const who = holder.owner ?? 'Somebody'
  const where = participantName({ id: holder.participant, location })
  return `${who} holds the lock at ${where}, with fence ${holder.fence}.`
}

const KEYS_NAMED = 3
const VALUE_CHARACTERS = 60

export function operationWords({ changes, fence }: WatchEvents['op']): string {
  if (changes.length === 0) return `An operation under fence ${fence} changed nothing.`
  const named = changes.slice(0, KEYS_NAMED).map(change => {
    if ('deleted' in change) return `${change.key} is deleted`
    const value = JSON.stringify(change.value)
    const short = value.length <= VALUE_CHARACTERS ? value : `${value.slice(0, VALUE_CHARACTERS)}…`
    return `${change.key} = ${short}`
  })
  const more = changes.length - named.length
  return named.join(', ') + (more > 0 ? `, and ${plural(more, 'more key')}` : '')
}

const CAUSES: { readonly [cause: string]: string } = {
  expired: 'its time to live was over',
  suspected: 'the others could not hear its participant any more',
  operator: 'an operator forced it out',
}

/** `key` is the participant and the cause, as in `2 expired`. */
export function ejectionWords(key: string, count: number): string {
  const [participant, cause = ''] = key.split(' ')
  const who = count === 1 ? 'A holder' : `${count} holders`
  return `${who} at participant ${participant} lost the lock: ${CAUSES[cause] ?? cause}.`
}

/** What the second status says that the first did not. */
export function changesBetween(before: Status, after: Status): News[] {
  if (before.generation !== after.generation)
    return [{ kind: 'members', text: 'The lock was deleted, and there is a new one of the same name.' }]
  const old = new Map(before.participants.map(one => [one.id, one]))
  const present = new Set(after.participants.map(({ id }) => id))
  return [
    ...epochNews(before, after),
    ...after.participants.flatMap(one => participantNews(old.get(one.id), one)),
    ...suspicionNews(old, after.participants),
    ...before.participants.filter(({ id }) => !present.has(id)).map(leaves),
  ]
}

function epochNews(before: Status, after: Status): News[] {
  const [from, to] = [highestEpoch(before), highestEpoch(after)]
  if (to <= from) return []
  const text = `Epoch ${to} began: a majority agreed on one log and on who has the token now.`
  return [{ kind: 'epoch', text }]
}

const highestEpoch = ({ participants }: Status): number =>
  Math.max(0, ...participants.map(({ epoch }) => epoch ?? 0))

function participantNews(before: ParticipantInfo | undefined, after: ParticipantInfo): News[] {
  const name = participantName(after)
  const Name = name[0]!.toUpperCase() + name.slice(1)
  if (before === undefined) return [{ kind: 'members', text: `${Name} is a member now.` }]
  if (before.reachable && !after.reachable) return [{ kind: 'fault', text: `${Name} does not answer.` }]
  if (!after.reachable) return []
  return before.reachable ? [] : [{ kind: 'members', text: `${Name} answers again.` }]
}

/** One line for each participant that is suspected, or no longer, however many do so at once. */
function suspicionNews(
  old: ReadonlyMap<number, ParticipantInfo>,
  participants: readonly ParticipantInfo[],
): News[] {
  const begin = new Map<number, number[]>()
  const end = new Map<number, number[]>()
  for (const { id, suspects } of participants) {
    const before = old.get(id)?.suspects ?? []
    if (suspects === null || !old.has(id)) continue
    for (const one of suspects.filter(one => !before.includes(one))) note(begin, one, id)
    for (const one of before.filter(one => !suspects.includes(one))) note(end, one, id)
  }
  return [
    ...[...begin].map(
      ([suspect, by]): News => ({
        kind: 'suspicion',
        text: `${several(by)} ${by.length === 1 ? 'suspects' : 'suspect'} participant ${suspect}.`,
      }),
    ),
    ...[...end].map(
      ([suspect, by]): News => ({
        kind: 'members',
        text: `${several(by)} ${by.length === 1 ? 'hears' : 'hear'} participant ${suspect} again.`,
      }),
    ),
  ]
}

function note(map: Map<number, number[]>, key: number, value: number): void {
  map.set(key, [...(map.get(key) ?? []), value])
}

function several(ids: readonly number[]): string {
  if (ids.length === 1) return `Participant ${ids[0]}`
  return `Participants ${ids.slice(0, -1).join(', ')} and ${ids.at(-1)}`
}

function leaves(participant: ParticipantInfo): News {
  const name = participantName(participant)
  return { kind: 'members', text: `${name[0]!.toUpperCase()}${name.slice(1)} is no member any more.` }
}
