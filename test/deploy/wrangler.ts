/**
 * `npm run deploy -- --dry-run`: what wrangler would upload, made without an account and without a network.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface DryRun {
  readonly status: number | null
  readonly output: string
  readonly errors: string
  /** The one module of the bundle; empty if there is none. */
  readonly script: string
  readonly compressedBytes: number
}

/** Runs the script of package.json as npm does, with the project's commands first in the path. */
export function dryRun(moreArguments: readonly string[] = []): DryRun {
  const folder = mkdtempSync(join(tmpdir(), 'baton-deploy-'))
  try {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const command = [
      scripts.page,
      '&&',
      scripts.deploy,
      '--dry-run',
      '--outdir',
      join(folder, 'out'),
      ...moreArguments,
    ].join(' ')
    const { status, stdout, stderr } = withoutNetwork(command, folder)
    const script = status === 0 ? readFileSync(join(folder, 'out/index.js'), 'utf8') : ''
    return { status, output: stdout, errors: stderr, script, compressedBytes: gzipSync(script).byteLength }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function withoutNetwork(command: string, home: string) {
  return spawnSync('sh', ['-c', command], {
    cwd: ROOT,
    encoding: 'utf8',
    env: {
      PATH: join(ROOT, 'node_modules/.bin') + delimiter + process.env.PATH,
      // Nobody is logged in there.
      HOME: home,
      NODE_OPTIONS: `--import=${new URL('no-network.mjs', import.meta.url)}`,
      NO_COLOR: '1',
    },
  })
}
