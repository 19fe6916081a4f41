// Installs the dependencies when they are missing or older than the lockfile, so that every npm script
// works on a fresh clone. It runs before anything is installed: plain JavaScript, Node's modules alone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const marker = 'node_modules/.installed-from'
const wanted = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex')
const installed = existsSync(marker) ? readFileSync(marker, 'utf8') : null

if (installed !== wanted) {
  console.error('installing the dependencies (npm ci) ...')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const result = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (result.status !== 0) process.exit(result.status ?? 1)
  writeFileSync(marker, wanted)
}
