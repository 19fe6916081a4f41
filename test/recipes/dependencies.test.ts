/** The recipes use the client alone: what runs them is whatever runs the client. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../recipes')
const importsOf = (text: string): string[] =>
  [...text.matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'/gms)].map(([, name]) => name!)

it('import nothing but the client and each other', () => {
  const files = readdirSync(FOLDER)
  expect(files.length).toBeGreaterThan(10)
  for (const file of files) {
    const imports = importsOf(readFileSync(join(FOLDER, file), 'utf8'))
    expect(imports.length, file).toBeGreaterThanOrEqual(['options.ts', 'digest.ts'].includes(file) ? 0 : 1)
    expect(
      imports.filter(name => !/^\.\/[\w-]+\.ts$|^\.\.\/client\/[\w-]+\.ts$/.test(name)),
      file,
    ).toEqual([])
  }
})
