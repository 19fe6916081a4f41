/** Who goes on when: those that try with a guess, those that look with what is certain, or with the end. */
import { expect, it } from 'vitest'
import type { Intent } from '../../worker/participant/lock/intent.ts'
import { Lock, type LockHost } from '../../worker/participant/lock/lock.ts'

const ADDRESS = { lock: 'jobs', id: 1 }

function waiting(...intents: Intent[]) {
  const now = (run: () => void) => run()
  const lock = new Lock({
    storage: { get: () => undefined, put: () => {} },
    turns: { run: now, afterwards: now },
    engine: { use: () => {} },
    begin: () => {},
  } as unknown as LockHost)
  const gone: Intent[] = []
  const all = intents.map(intent => lock.ready(ADDRESS, intent).then(() => gone.push(intent)))
  const after = async (...events: Parameters<Lock['onBirth']>[0]) => {
    lock.onBirth(events)
    await new Promise(resolve => setImmediate(resolve))
    return [...gone]
  }
  return { after, all }
}

it('a core that has only asked is for those that try', async () => {
  const { after } = waiting('try', 'look', 'use')
  expect(await after({ type: 'ready', isTentative: true })).toEqual(['try'])
  expect(await after({ type: 'ready' })).toEqual(['try', 'look', 'use'])
})

it('the end of the lock is for those that look', async () => {
  const { after } = waiting('try', 'look', 'use')
  expect(await after({ type: 'ended', generation: 2 })).toEqual(['look'])
})
