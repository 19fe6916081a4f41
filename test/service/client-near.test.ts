/**
 * The client's `near`, through a binding: the participant nearest to that place is asked, and no request from
 * outside can choose it.
 */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'

const service = useService({}, './test-worker.ts')

it.each([
  ['weur', 1],
  ['eeur', 1],
  ['enam', 2],
  ['wnam', 2],
  ['apac', 3],
  ['oc', 3],
  ['cf', 3],
  // A client that is nowhere is equally near to all.
  ['nowhere', null],
])('%s: participant %i', async (location, nearest) => {
  const lock = service.lock()
  const participant = nearest ?? firstOwnerOf(lock.name, 3)
  const response = await fetch(`${service.url}/near/${lock.name}/${location}`)
  expect(await response.json()).toBe(participant)
})

itKeepsEveryPromise(service)
