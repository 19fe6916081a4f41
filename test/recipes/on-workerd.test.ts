/** The suite of the recipes against the real service, where time is real. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../worker/local/build.ts'
import { startWorkerd } from '../../worker/local/workerd.ts'
import { resettingFetch } from '../service/resetting-fetch.ts'
import { describeRecipes } from './suite.ts'

describeRecipes(
  'the service on workerd',
  async () => {
    const storage = await mkdtemp(join(tmpdir(), 'baton-test-'))
    const script = await bundle(fileURLToPath(new URL('../../worker/index.ts', import.meta.url)))
    const running = await startWorkerd({ script, storage, port: 0, variables: { BATON_OPEN: 'true' } })
    const end = () => running.process.kill('SIGKILL')
    process.once('exit', end)
    return {
      fetch: resettingFetch,
      url: running.url,
      stop: async () => {
        process.removeListener('exit', end)
        await running.stop('SIGKILL')
        await rm(storage, { recursive: true, force: true })
      },
    }
  },
  // The first requests read, and the later ones hold the lock, or have written.
  {
    moments: [
      [1, 'after'],
      [2, 'after'],
      [3, 'before'],
      [4, 'after'],
      [6, 'before'],
    ],
  },
)
