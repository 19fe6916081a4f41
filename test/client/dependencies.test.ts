/** A program that uses the client gets only the client: no schemas, no protocol, no package. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../client')
const VALUE_IMPORT = /^(?:import|export)(?! type\b)[^'"]*?from '([^']+)'/gm

it('at run time the client consists of its own files', () => {
  const files = readdirSync(folder)
  expect(files).toContain('index.ts')
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, specifier] of text.matchAll(VALUE_IMPORT))
      expect(specifier, file).toMatch(/^\.\/[\w-]+\.ts$/)
  }
})
