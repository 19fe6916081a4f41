/** The command that `baton run` runs, without the lock. */
import { afterEach, expect, it, vi } from 'vitest'
import { Child } from '../../cli/child.ts'

afterEach(() => vi.restoreAllMocks())

it('a command that runs as another user does not hear of signals, and is waited for', async () => {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  })
  const child = new Child([process.execPath, '-e', 'setTimeout(() => process.exit(7), 300)'], process.env)
  child.forward('SIGTERM')
  await child.end(0)
  expect(await child.ended).toBe(7)
  expect(kill).toHaveBeenCalled()
})

it('one that cannot be started at all has ended, and can be sent whatever signal', async () => {
  const child = new Child([`${process.execPath}/nothing`], process.env)
  child.forward('SIGTERM')
  await child.end(0)
  expect(await child.ended).toBe(126)
  expect(child.startError).toContain('cannot be executed: ENOTDIR')
})
