/** What `--write` writes: the result, the page, the chart, and the figures in the README. */
import { readFileSync, writeFileSync } from 'node:fs'
import { chart } from './report/chart.ts'
import { benchmarkPage } from './report/page.ts'
import { withSpeed } from './report/readme.ts'
import type { Result } from './result.ts'

const urlOf = (path: string): URL => new URL(`../${path}`, import.meta.url)
const RESULT = 'docs/benchmark.json'

export const keptResult = (): Result => JSON.parse(readFileSync(urlOf(RESULT), 'utf8')) as Result

/** The text of each, by its path. */
export function documentsOf(result: Result): { readonly [path: string]: string } {
  return {
    [RESULT]: resultText(result),
    'docs/benchmark.md': benchmarkPage(result),
    'docs/benchmark.svg': chart(result),
    'README.md': withSpeed(readFileSync(urlOf('README.md'), 'utf8'), result),
  }
}

export function writeDocuments(result: Result): void {
  for (const [path, text] of Object.entries(documentsOf(result))) writeFileSync(urlOf(path), text)
}

/** One line for each row, so that a change of one figure is a change of one line. */
function resultText(result: Result): string {
  const fields = Object.entries(result).map(([name, value]) => {
    const lines = Array.isArray(value) ? value.map(item => `    ${JSON.stringify(item)}`) : []
    const text = lines.length > 0 ? `[\n${lines.join(',\n')}\n  ]` : JSON.stringify(value)
    return `  ${JSON.stringify(name)}: ${text}`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}
