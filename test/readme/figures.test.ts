/**
 * docs/benchmark.json is what the benchmark measured last. The page, its chart and the figures that the
 * README quotes are what follows from it. test/deploy/cost.test.ts looks at the dollars.
 */
import { describe, expect, it } from 'vitest'
import { documentsOf, keptResult } from '../../bench/documents.ts'
import { withSpeed } from '../../bench/report/readme.ts'
import type { Result } from '../../bench/result.ts'
import { pageAt } from './markdown.ts'

const result = keptResult()
const documents = Object.entries(documentsOf(result))

describe('the benchmark', () => {
  it.each(documents)('has written %s', (path, text) => {
    expect(pageAt(path).text, 'run: npm run bench -- --render').toBe(text)
  })

  it('has measured what the README quotes', () => {
    const readme = pageAt('README.md').text
    const slower: Result = {
      ...result,
      rows: result.rows.map(row => ({ ...row, ratio: row.ratio && { ...row.ratio, median: 77 } })),
    }
    expect(withSpeed(readme, slower).match(/77\.00/g)).toHaveLength(3)
  })
})
