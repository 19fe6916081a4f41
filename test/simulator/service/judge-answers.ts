/**
 * Whether it is true what operators were told: a lock is made by one of them, of what that one wished; a
 * conflict is with something else; and what is deleted has ended by then.
 */
import { violate } from '../violation.ts'
import type { Answered, Asked, Wanted } from './asked.ts'
import type { Chosen } from './generations.ts'
import { MOVING } from './plan-moves.ts'
import { isWished, mayBeWished } from './wishes.ts'
import type { World } from './world.ts'

type Heard = Asked & { readonly answer: Answered }

export function judgeAnswers(world: World, lock: string): void {
  judgeCreations(world, lock)
  judgeSights(world, lock)
  judgeEnds(world, lock)
}

const heardOf = (world: World, lock: string, wanted: Wanted): Heard[] =>
  world.journal.asked.filter(
    (one): one is Heard => one.lock === lock && one.wanted === wanted && one.answer !== null,
  )

/** By generation: `null` if somebody has heard of one, and nobody knows what it was. */
function choicesOf(world: World, lock: string): Chosen[] | null {
  const choices = Array.from({ length: world.latestGeneration(lock) }, (_, index) =>
    world.generations.chosenOf(lock, index + 1),
  )
  return choices.every(choice => choice !== null) ? choices : null
}

/**
 * Who has made the lock knows of it first, and each generation is made once. Who asks for long may have made
 * a later one than those who asked after it: it is enough that there is one for each of them.
 */
function judgeCreations(world: World, lock: string): void {
  const choices = choicesOf(world, lock)
  if (choices === null) return
  const makers = new Map<Chosen, Heard>()
  const meanwhile = ({ begunAt, answer }: Heard): Chosen[] =>
    choices.filter(({ at }) => at >= begunAt && at <= answer.at)
  /** Whoever has made this one so far may have made another one. */
  const findMade = (one: Heard, tried: Set<Chosen>): boolean =>
    meanwhile(one).some(choice => {
      if (tried.has(choice) || !mayBeWished(world, choice.configuration, one)) return false
      tried.add(choice)
      const other = makers.get(choice)
      if (other !== undefined && !findMade(other, tried)) return false
      makers.set(choice, one)
      return true
    })
  for (const one of heardOf(world, lock, 'configure').filter(({ answer }) => answer.status === 201)) {
    world.counts.locksMade++
    if (findMade(one, new Set())) continue
    const who = `${one.by}, who asked at ${one.begunAt.toFixed(2)},`
    const those = JSON.stringify(meanwhile(one))
    violate('answers', `${lock}: ${who} was told that it made a lock, but not of these: ${those}`)
  }
}

/** Of a lock whose participants change, it may be the present ones that are compared. */
function judgeSights(world: World, lock: string): void {
  if (lock === MOVING) return
  const choices = choicesOf(world, lock)
  if (choices === null) return
  for (const one of heardOf(world, lock, 'configure')) {
    const { by, answer } = one
    const { code } = answer.body as { readonly code?: string }
    const seen = choices.filter(({ at }) => at <= answer.at).map(({ configuration }) => configuration)
    const said = `${lock}: ${by} was told ${answer.status} at ${answer.at.toFixed(2)}`
    if (answer.status === 200 && !seen.some(made => mayBeWished(world, made, one)))
      violate('answers', `${said}, and the lock is none that it wished: ${JSON.stringify(seen)}`)
    if (code === 'conflict' && seen.every(made => isWished(world, made, one)))
      violate('answers', `${said}, and the lock is what it wished: ${JSON.stringify(seen)}`)
  }
}

function judgeEnds(world: World, lock: string): void {
  for (const { by, query, answer } of heardOf(world, lock, 'delete')) {
    const generation = query.get('generation')
    if (answer.status !== 204 || generation === null) continue
    const endedAt = world.generations.endedAt(lock, Number(generation))
    if (endedAt !== null && endedAt <= answer.at) continue
    const when = endedAt === null ? 'goes on' : `has ended only at ${endedAt.toFixed(2)}`
    violate('answers', `${lock}: ${by} was told that generation ${generation} is deleted, and it ${when}`)
  }
}
