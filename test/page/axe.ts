/** An accessibility check of a page that is open in the browser. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** By the DevTools Protocol, which the policy of the page does not stop. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(`${AXE};void 0`)
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run()')
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(node => `${id}: ${node.html} ${node.failureSummary}`),
  )
}

/** How far the page is wider than the screen. */
export const tooWide = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
