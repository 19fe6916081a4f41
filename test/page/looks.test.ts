/** The page on a phone and on a desk, light and dark: nothing is too wide, and axe finds nothing. */
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { CHROMIUM, NO_CHROMIUM } from '../chromium.ts'
import { useServiceWithPage } from '../service/harness.ts'
import { tooWide, violationsOf } from './axe.ts'
import { useBrowser } from './browser.ts'

const service = useServiceWithPage()
const browsing = useBrowser()

/** A lock with long names, that is held, waited for and full of news. */
async function lively(name: string): Promise<void> {
  const lock = createBaton({ url: service.url }).lock(name)
  const long = 'a-very-long-word-without-any-place-to-break-it-'.repeat(3)
  await lock.transact([
    { put: `key/${long}`, value: { text: long } },
    { put: 'n', value: 1 },
  ])
  await lock.acquire({ owner: long.slice(0, 128), ttlMs: 600_000, keepAlive: false })
  void lock.acquire({ at: 2, waitMs: 25_000 }).catch(() => {})
}

const PAGES: readonly (readonly [name: string, hash: string, text: RegExp])[] = [
  ['the list of locks', '#/', /^Locks$/],
  ['a lock', '#/locks/busy', /client waits/],
  ['a lock that is not there', '#/locks/absent', /There is no lock/],
]

const LOOKS = [390, 1280].flatMap(width => (['light', 'dark'] as const).map(colours => ({ width, colours })))

describe.skipIf(CHROMIUM === undefined)(
  `the page${CHROMIUM === undefined ? ` (${NO_CHROMIUM})` : ''}`,
  () => {
    it.each(LOOKS)('at $width pixels, $colours', async look => {
      await lively('busy')
      for (const [name, hash, text] of PAGES) {
        const page = await browsing.open(`${service.url}/${hash}`, look, [404])
        await page.getByText(text).first().waitFor()
        for (const summary of await page.locator('summary').all()) await summary.click()
        expect(await tooWide(page), name).toBe(0)
        expect(await violationsOf(page), name).toEqual([])
        expect(await browsing.close(), name).toEqual([])
      }
      const lock = createBaton({ url: service.url }).lock('busy')
      await lock.delete({ force: true })
    })
  },
)
