/** Starts Workers of these tests on raw workerd, with storage that goes with them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../worker/local/build.ts'
import { startWorkerd } from '../../worker/local/workerd.ts'

export interface StartedWorker extends AsyncDisposable {
  readonly url: string
}

export function fileOf(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}

export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'baton-examples-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

export async function startWorker(
  path: string,
  variables: { readonly [name: string]: string },
  port = 0,
): Promise<StartedWorker> {
  const script = await bundle(fileOf(path))
  const folder = await temporaryFolder()
  const running = await startWorkerd({
    script,
    storage: folder.path,
    port,
    variables,
  })
  return {
    url: running.url,
    async [Symbol.asyncDispose]() {
      await running.stop('SIGKILL')
      await folder[Symbol.asyncDispose]()
    },
  }
}
