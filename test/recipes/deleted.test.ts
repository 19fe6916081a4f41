/** Recipes on a lock that is deleted, and made again, on the real service. */
import { expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { SharedConfiguration } from '../../recipes/index.ts'
import { eventually } from '../service/eventually.ts'
import { useService } from '../service/harness.ts'

const service = useService()

it('whoever watches a configuration is told that of the next lock of its name', async () => {
  const lock = createBaton({ url: service.url }).lock('configuration-of-two-locks')
  const configuration = new SharedConfiguration<string>(lock)
  const first = await configuration.set('a')
  const stop = new AbortController()
  const seen: unknown[] = []
  const watching = (async () => {
    for await (const { value } of configuration.watch({ signal: stop.signal })) seen.push(value)
  })()
  await eventually(() => expect(seen).toEqual(['a']))
  await lock.delete()
  // The next lock counts its operations anew.
  expect(await configuration.set('b')).toBe(first)
  await eventually(() => expect(seen.at(-1)).toBe('b'))
  stop.abort()
  await watching
})
