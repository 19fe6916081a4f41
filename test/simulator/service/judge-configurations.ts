/** A lock is born once and with one configuration: every client is told the same one. */
import { violate } from '../violation.ts'
import { birthOf } from './losses.ts'
import { MOVING } from './plan-moves.ts'
import type { World } from './world.ts'

export function judgeConfigurations(world: World, lock: string): void {
  // A client cannot tell which generation it was told about.
  const isFirst = world.latestGeneration(lock) === 1
  // Nor which of its participants a lock had by then.
  const isFixed = isFirst && lock !== MOVING
  const told = world.journal.configurations.filter(seen => isFixed && seen.lock === lock)
  const [first] = told
  for (const other of told) {
    if (other.configuration === first!.configuration) continue
    violate(
      'one configuration',
      `${lock}: ${first!.by} was told ${first!.configuration}, ${other.by} was told ${other.configuration}`,
    )
  }
  const chosen = new Map<string, string>()
  const latest = world.latestGeneration(lock)
  for (const object of world.objects.values()) {
    const birth = object.lock === lock ? birthOf(object) : null
    if (birth?.chosen && birth.generation === latest)
      chosen.set(JSON.stringify([birth.generation, birth.chosen]), object.name)
  }
  if (chosen.size > 1) {
    const each = [...chosen].map(([text, name]) => `${name} has ${text}`)
    violate('one configuration', `${lock}: ${each.join('; ')}`)
  }
}
