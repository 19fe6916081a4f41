/** The page in the Chromium of this machine, with everything that its console complains about. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { CHROMIUM } from '../chromium.ts'
import { TEST_LIMIT_MS } from '../service/harness.ts'

export interface Look {
  readonly width?: number
  readonly colours?: 'light' | 'dark'
}

/**
 * Every answer that is no success is an error in the console of Chromium, whatever the page makes of it.
 */
const REFUSED = /Failed to load resource: the server responded with a status of (\d+)/

export class Browsing {
  #browser: Browser | null = null
  #context: BrowserContext | null = null
  /** What the console said, besides answers with a status that the test expects. */
  readonly complaints: string[] = []

  async start(): Promise<void> {
    if (CHROMIUM !== undefined)
      this.#browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  }

  async stop(): Promise<void> {
    await this.#browser?.close()
  }

  /** `refused` are the statuses that this test provokes. */
  async open(url: string, look: Look = {}, refused: readonly number[] = []): Promise<Page> {
    const { width = 1280, colours = 'light' } = look
    const context = await this.#browser!.newContext({
      viewport: { width, height: 900 },
      colorScheme: colours,
      reducedMotion: 'reduce',
    })
    this.#context = context
    const page = await context.newPage()
    page.on('console', message => {
      const status = Number(REFUSED.exec(message.text())?.[1])
      const isNews = message.type() === 'error' || message.type() === 'warning'
      if (isNews && !refused.includes(status)) this.complaints.push(message.text())
    })
    page.on('pageerror', error => this.complaints.push(String(error)))
    await page.goto(url)
    return page
  }

  async close(): Promise<void> {
    await this.#context?.close()
    this.#context = null
    this.complaints.length = 0
  }
}

/** One browser for a file; each test has a profile of its own in it. */
export function useBrowser(): Browsing {
  const browsing = new Browsing()
  beforeAll(() => browsing.start(), TEST_LIMIT_MS)
  afterEach(() => browsing.close())
  afterAll(() => browsing.stop(), TEST_LIMIT_MS)
  return browsing
}
