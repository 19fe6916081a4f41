import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { limitsTable } from '../../shared/api/limits-table.ts'

const DOCUMENT = new URL('../../docs/limits.md', import.meta.url)

it('docs/limits.md has the limits as they are', () => {
  expect(readFileSync(DOCUMENT, 'utf8')).toContain(`\n${limitsTable()}\n`)
})

it('the table writes numbers as people read them', () => {
  expect(limitsTable()).toContain(`| \`waitMs\` | 0 to 25,000 | \`400 bad_request\` |`)
  expect(limitsTable()).toContain(`| state of a lock (soft) | 8,388,608 units |`)
  expect(limitsTable()).toContain('| nesting of a value | 62 levels |')
  expect(API_LIMITS.stateWeight).toBe(8_388_608)
})
