/**
 * A number means one machine in each lock: whoever came to an earlier lock of the name, and has the number of
 * a participant of the present one, has no part in it.
 */
import { violate } from '../violation.ts'
import { birthOf, isMemberOf } from './losses.ts'
import type { SimObject } from './sim-object.ts'
import type { World } from './world.ts'

export function judgeMachines(world: World, lock: string): void {
  const latest = world.latestGeneration(lock)
  const members = new Map<number, SimObject>()
  for (const object of world.objects.values()) {
    const isPresent = object.lock === lock && birthOf(object)?.generation === latest
    if (!isPresent || !isMemberOf(object)) continue
    const other = members.get(object.participant)
    if (other !== undefined)
      violate(
        'one machine',
        `${lock}: ${other.name} and ${object.name} are both a member of generation ${latest}`,
      )
    members.set(object.participant, object)
  }
}
