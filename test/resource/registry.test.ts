import { expect, it } from 'vitest'
import { keyValue } from '../../shared/resource/key-value.ts'
import { resourceByName, resourceNames } from '../../shared/resource/registry.ts'

it('finds every resource by its name, and nothing by another', () => {
  expect(resourceByName('key-value')).toBe(keyValue)
  expect(resourceNames()).toEqual(['key-value'])
  for (const name of resourceNames()) expect(resourceByName(name)?.name).toBe(name)
  for (const name of ['', 'Key-Value', '__proto__', 'constructor'])
    expect(resourceByName(name)).toBeUndefined()
})
