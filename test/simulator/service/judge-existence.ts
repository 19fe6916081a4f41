/**
 * Looking gives birth to nothing, and is told the truth. A lock that nobody uses is never there for anybody,
 * and has no row anywhere. A lock whose user was told that it did something is never said not to exist after
 * that; but where storage was lost, nobody need remember a grant that only its own participant knew of.
 */
import { LEDGER_NAME } from '../../../worker/participant/ledger/name.ts'
import { violate } from '../violation.ts'
import { UNUSED } from './plan-looks.ts'
import type { World } from './world.ts'

const NOTHING_THERE: ReadonlySet<string | null> = new Set([
  'no_such_lock',
  'no_such_ticket',
  'no_quorum',
  'too_many',
])

export function judgeUnused(world: World): void {
  for (const { look, by, status, code } of world.journal.looks.filter(({ lock }) => lock === UNUSED)) {
    const isGrant = look === 'ops' || look === 'release'
    if (NOTHING_THERE.has(code) || (isGrant && code === 'ejected')) continue
    violate('looking creates nothing', `${by} asked for ${look} of ${UNUSED}, and was told ${status} ${code}`)
  }
  for (const object of world.objects.values()) {
    if (object.lock === UNUSED && !object.disk.isBlank)
      violate('looking creates nothing', `${object.name} has stored something`)
  }
}

export function judgeExistence(world: World, lock: string): void {
  const { looks, operations, grants, deletes } = world.journal
  if (deletes.some(seen => seen.lock === lock)) return
  const denied = looks.filter(look => look.lock === lock && look.code === 'no_such_lock')
  if (denied.length === 0) return
  const uses = operations
    .filter(call => call.lock === lock && call.word === 'applied')
    .map(({ endedAt }) => endedAt!)
  if (!hasLostStorage(world, lock))
    uses.push(...grants.filter(grant => grant.lock === lock).map(({ at }) => at))
  const first = Math.min(...uses)
  for (const { by, look, begunAt } of denied) {
    if (begunAt > first)
      violate(
        'a lock that was used exists',
        `${lock}: ${by} was told at ${begunAt} (${look}) that there is none`,
      )
  }
}

const hasLostStorage = ({ objects }: World, lock: string): boolean =>
  [...objects.values()].some(
    object => object.wasWiped && (object.lock === lock || object.lock === LEDGER_NAME),
  )
