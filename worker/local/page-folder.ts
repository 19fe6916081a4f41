/**
 * The folder with the built page, which the service serves. In the repository it is built when it is missing
 * or older than its sources; in the published package it was built with that.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** From the root of the repository, and from that of `dist`. */
export const PAGE_FOLDER = 'page/built'
/** Below the folder, so that a Worker that has assets of its own can have these beside them. */
const OWN_FOLDER = 'baton'

const CONFIGURATION = join(ROOT, 'page/vite.config.ts')
/** The simulated page runs the simulator. */
const SOURCES = ['page', 'client', 'shared', 'test/simulator'].map(folder => join(ROOT, folder))

/** Its path. Rejects if it cannot be built. */
export async function builtPage(): Promise<string> {
  const folder = join(ROOT, PAGE_FOLDER)
  const own = join(folder, OWN_FOLDER)
  const builtAt = timeOf(join(own, 'index.html'))
  const isSource = existsSync(CONFIGURATION)
  if (!isSource && builtAt === 0) throw new Error(`the package has no ${PAGE_FOLDER}`)
  if (isSource && builtAt < newest(SOURCES, folder)) {
    const { buildPage } = await import('./build-page.ts')
    await buildPage(CONFIGURATION, own)
  }
  return folder
}

const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function newest(paths: readonly string[], except: string): number {
  return Math.max(
    ...paths.map(path => {
      if (path === except) return 0
      const stats = statSync(path)
      if (!stats.isDirectory()) return stats.mtimeMs
      return newest(
        readdirSync(path).map(name => join(path, name)),
        except,
      )
    }),
  )
}
