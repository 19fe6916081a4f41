/** Names of locks: what they may be made of, and how they travel in a path. */
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { lockName } from '../../shared/api/primitives.ts'
import { objectName } from '../../worker/directory.ts'
import { allows, parseKeys } from '../../worker/router/keys.ts'
import { createHarness } from './fake.ts'

describe('the name of a lock', () => {
  it.each(['jobs:123', 'a', 'a:', 'a::b', 'tenant:7:jobs.open_x-y', `a${':'.repeat(63)}`])('%s', name => {
    expect(lockName.safeParse(name).success).toBe(true)
  })

  it.each([':', ':a', 'a/b', 'a%3Ab', 'a b', '', `a${':'.repeat(64)}`])('is not %j', name => {
    expect(lockName.safeParse(name).success).toBe(false)
    expect(() => createBaton({ url: 'http://localhost' }).lock(name)).toThrow()
  })

  it.each(['/v1/locks/jobs:123', '/v1/locks/jobs%3A123', '/v1/locks/jobs%3a123'])(
    'is the same in %s',
    async path => {
      const { send, participants } = createHarness()
      expect((await send('GET', path)).status).toBe(200)
      expect((await send('GET', `${path}/state/a:b`)).status).toBe(200)
      expect(new Set(participants.asked.map(({ lock }) => lock))).toEqual(new Set(['jobs:123']))
    },
  )

  it('is written percent-encoded by the client, which the service reads as it was', async () => {
    const { send, participants } = createHarness()
    const paths: string[] = []
    const fetch = (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url)
      paths.push(pathname)
      return Promise.resolve(send(request.method, pathname))
    }
    await createBaton({ fetch }).lock('jobs:123').get('k')
    expect(paths).toEqual(['/v1/locks/jobs%3A123/state/k'])
    expect(participants.asked[0]?.lock).toBe('jobs:123')
  })

  it('gives each participant an object of its own, whatever it is made of', () => {
    const names = ['jobs', 'jobs:1', 'jobs:1:1', 'jobs:11', 'jobs.1']
    const objects = names.flatMap(name => [1, 2, 11].map(id => objectName(name, { id })))
    expect(new Set(objects).size).toBe(objects.length)
  })

  it('can be named in a scrape and in the entry of a key', async () => {
    const { send } = createHarness()
    const scraped = await (await send('GET', '/metrics?lock=jobs:1,jobs:2')).text()
    expect(scraped).toContain('baton_participant_up{lock="jobs:2",participant="3"} 1')
    const entry = { name: 'one', hash: 'a'.repeat(64), locks: ['jobs:*', 'x:1'], verbs: ['read'] }
    const keys = parseKeys(JSON.stringify([entry]))
    if (keys.type !== 'keys') throw new Error(`these are keys: ${JSON.stringify(keys)}`)
    const may = (lock: string) => allows(keys.entries, 'read', lock)
    expect(['jobs:7', 'x:1', 'jobs', 'x:12'].map(may)).toEqual([true, true, false, false])
  })
})
