/** The resources that a lock can guard, by the name that its configuration and recorded histories carry. */
import { keyValue } from './key-value.ts'
import type { Resource } from './resource.ts'

const resources: ReadonlyMap<string, Resource> = new Map(
  [keyValue].map(resource => [resource.name, resource]),
)

export function resourceByName(name: string): Resource | undefined {
  return resources.get(name)
}

export function resourceNames(): string[] {
  return [...resources.keys()]
}
