/** The workflow for a public host runs what `.ci/run` runs, on every Node that the package names. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pageAt, ROOT } from './markdown.ts'

const { text } = pageAt('.github/workflows/ci.yml')
const { engines, scripts } = JSON.parse(pageAt('package.json').text) as {
  readonly engines: { readonly node: string }
  readonly scripts: object
}

it('runs .ci/run on Linux, on every Node from the oldest that the package takes', () => {
  const oldest = Number(/\d+/.exec(engines.node)![0])
  expect(text).toContain(`node: [${oldest}, ${oldest + 2}, ${oldest + 4}]`)
  expect(text).toContain('bash .ci/run')
  expect(existsSync(join(ROOT, '.ci/run'))).toBe(true)
})

it('names systems, scripts and folders that exist', () => {
  for (const system of ['ubuntu-latest', 'macos-latest', 'windows-latest']) expect(text).toContain(system)
  for (const [, script] of text.matchAll(/npm run (\w+)/g)) expect(Object.keys(scripts)).toContain(script)
  const folders = [...text.matchAll(/\btest\/[\w/-]+/g)].map(([folder]) => folder)
  expect(folders.filter(folder => !existsSync(join(ROOT, folder)))).toEqual([])
  expect(folders.length).toBeGreaterThan(0)
})
