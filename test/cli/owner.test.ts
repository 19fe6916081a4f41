/** `--owner`: whoever does not get a lock is told who has it. */
import { describe, expect, it } from 'vitest'
import { itKeepsEveryPromise, useService } from '../service/harness.ts'
import { jsonOf, MAIN, useBaton } from './baton.ts'

const service = useService()
const { run } = useBaton(() => service.url)

describe('--owner', () => {
  it('of acquire is told to those who do not get the lock', async () => {
    const { name } = service.lock()
    const { grant } = jsonOf(await run(['acquire', name, '--ttl', '5m', '--owner', 'me', '--json'])) as {
      grant: { id: string }
    }
    const refused = await run(['acquire', name, '--try', '--owner', 'you', '--json'])
    expect(refused.code).toBe(3)
    expect(jsonOf(refused)).toMatchObject({ error: { holder: { owner: 'me' } } })
    await run(['release', name, grant.id])
  })

  it('of run is told to those who look', async () => {
    const { name } = service.lock()
    const look = [process.execPath, MAIN, 'status', name, '--json']
    const ended = await run(['run', name, '--owner', 'nightly', '--', ...look])
    expect(jsonOf(ended)).toMatchObject({ holder: { owner: 'nightly' } })
  })

  it.each(['transact', 'put'])('of %s has a limit', async command => {
    const { name } = service.lock()
    const words = command === 'put' ? ['put', name, 'a', '1'] : ['transact', name, '[{"increment": "n"}]']
    expect(await run([...words, '--owner', 'mover'])).toMatchObject({ code: 0 })
    const refused = await run([...words, '--owner', 'x'.repeat(129)])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('owner') })
  })
})

itKeepsEveryPromise(service)
