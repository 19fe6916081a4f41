/**
 * The pages of the service as a browser shows them, on a phone and on a desktop, light and dark: nothing is
 * wider than the screen, nothing is cut off, everything can be read, and the console is empty.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Browser, CHROMIUM, NO_CHROMIUM, type Opened, type View } from '../chromium.ts'
import { useService } from '../service/harness.ts'
import { badContrasts, brokenAnchors, iconWidth, overflows } from './inspect.ts'

const open = useService()
const closed = useService({ BATON_OPEN: 'false' })

let browser: Browser | undefined
afterAll(() => browser?.[Symbol.asyncDispose]())

const VIEWS: readonly View[] = [
  { width: 390, colours: 'light' },
  { width: 390, colours: 'dark' },
  { width: 1280, colours: 'light' },
  { width: 1280, colours: 'dark' },
]

const PAGES: readonly (readonly [name: string, url: () => string])[] = [
  ['/ of an open service', () => `${open.url}/`],
  ['/docs of an open service', () => `${open.url}/docs`],
  ['/ of a service that has no keys yet', () => `${closed.url}/`],
  ['/docs of a service that asks for a key', () => `${closed.url}/docs`],
]

/** BATON_SCREENSHOTS names a folder for those who want to look. */
async function keepScreenshot(page: Opened, name: string): Promise<void> {
  const folder = process.env.BATON_SCREENSHOTS
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name.replaceAll(/\W+/g, '-')}.png`), await page.screenshot())
}

const named = VIEWS.map(view => [view.width, view.colours, view] as const)

describe.each(named)('at %i pixels, %s', (_width, _colours, view) => {
  it.for(PAGES)('%s', async ([name, url], context) => {
    if (CHROMIUM === undefined) return context.skip(NO_CHROMIUM)
    browser ??= new Browser()
    const page = await browser.open(url(), view)
    await keepScreenshot(page, `${name} ${view.width} ${view.colours}`)
    expect(await page.evaluate('document.title')).toMatch(/^Baton/)
    expect(await page.evaluate(overflows)).toEqual([])
    expect(await page.evaluate(brokenAnchors)).toEqual([])
    expect(await page.evaluate(badContrasts)).toEqual([])
    expect(await page.evaluate(iconWidth)).toBeGreaterThan(0)
    expect(page.complaints).toEqual([])
  })
})
