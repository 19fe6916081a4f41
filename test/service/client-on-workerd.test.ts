/** The client's suite against the real service: the client keeps its promises also where time is real. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../worker/local/build.ts'
import { startWorkerd } from '../../worker/local/workerd.ts'
import { describeClient } from '../client/suite.ts'
import { resettingFetch } from './resetting-fetch.ts'

describeClient(
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
  // Each run has real pauses.
  { propertyRuns: 15 },
)
