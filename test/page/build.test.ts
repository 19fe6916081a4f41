/** How the page is built: anew when it has to be, and without a moment in which it is broken. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { buildPage } from '../../worker/local/build-page.ts'
import { builtPage } from '../../worker/local/page-folder.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-page-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('leaves the new files and no others', async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'assets/index-old.js'), 'old')
  await buildPage(join(ROOT, 'page/vite.config.ts'), folder)
  const files = readdirSync(join(folder, 'assets'))
  expect(files).not.toContain('index-old.js')
  expect(files.filter(file => !/^[\w-]+\.(js|css|svg)$/.test(file))).toEqual([])
  const naming = files.filter(file => readFileSync(join(folder, 'assets', file), 'utf8').includes(ROOT))
  expect(naming, 'name a folder of this machine').toEqual([])
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const named = [...html.matchAll(/"\.\/assets\/([^"]+)"/g)].map(([, file]) => file!)
  expect(named.length).toBeGreaterThanOrEqual(3)
  expect(named.filter(file => !files.includes(file))).toEqual([])
})

it('is built once, and again when a source is newer', async () => {
  const index = join(await builtPage(), 'baton/index.html')
  const builtAt = statSync(index).mtimeMs
  await builtPage()
  expect(statSync(index).mtimeMs).toBe(builtAt)
  utimesSync(index, 0, 0)
  await builtPage()
  expect(statSync(index).mtimeMs).toBeGreaterThanOrEqual(builtAt)
})

it.each(['desktop', 'dark', 'phone'])('the picture %s is there, and small', name => {
  const { size } = statSync(join(ROOT, `docs/page/${name}.png`))
  expect(size).toBeGreaterThan(10_000)
  expect(size).toBeLessThan(200_000)
})
