/**
 * `npm run build`: what is published, in `dist/` (or in another folder: `-- --out folder`). The compiler
 * makes JavaScript and declarations of each file; beside them lie the whole service as one module and the
 * built page, so that an installed package can start it without a bundler.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from '../worker/local/build.ts'
import { builtPage, PAGE_FOLDER } from '../worker/local/page-folder.ts'
import { SERVICE_BUNDLES } from '../worker/local/service-script.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { out: { type: 'string', default: join(ROOT, 'dist') } } })
const DIST = resolve(values.out)

rmSync(DIST, { recursive: true, force: true })
for (const project of ['tsconfig.build.json', 'worker/tsconfig.build.json']) compile(project)
for (const file of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.d.ts')) nameJavaScript(join(DIST, file))
}
for (const { source, bundled } of Object.values(SERVICE_BUNDLES)) {
  writeFileSync(join(DIST, bundled), await bundle(join(ROOT, source)))
}
cpSync(await builtPage(), join(DIST, PAGE_FOLDER), { recursive: true })
const command = join(DIST, 'cli/main.js')
if (existsSync(command)) chmodSync(command, 0o755)

function compile(project: string): void {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const words = [compiler, '-p', join(ROOT, project), '--outDir', DIST]
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * The compiler leaves `./lock.ts` in declarations, where it writes `./lock.js` in JavaScript; there is only
 * the latter.
 */
function nameJavaScript(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/((?:from|import|import\() ?'\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
}
