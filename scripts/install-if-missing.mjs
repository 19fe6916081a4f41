/**
 * Installs the dependencies if they are missing or differ from the lockfile, so that every npm script works
 * on a fresh clone. It runs before anything is installed: plain JavaScript that uses Node's own modules
 * alone.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

export function installIfMissing() {
  if (isInstalled()) return
  console.error('installing the dependencies (npm ci) ...')
  // npm is a batch file on Windows, which only a shell can run.
  const shell = process.platform === 'win32'
  const command = ['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error']
  const [program, ...words] = shell ? [command.join(' ')] : command
  const { status } = spawnSync(program, words, { cwd: ROOT, stdio: ['ignore', 2, 2], shell })
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * npm writes down what it has installed, whoever asked it to. A package for another platform is missing
 * rightly.
 */
function isInstalled() {
  const wanted = packagesIn(join(ROOT, 'package-lock.json'))
  const installed = packagesIn(join(ROOT, 'node_modules', '.package-lock.json'))
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true
    return installed[path] === undefined ? optional === true : installed[path].version === version
  })
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return {}
  }
}
