/** The page in the Chromium of this machine, with everything that its console complains about. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { CHROMIUM } from '../chromium.ts'
import { TEST_LIMIT_MS } from '../service/harness.ts'

export interface Look {
  readonly width?: number
  readonly colours?: 'light' | 'dark'
}

/**
 * Every answer that is no success is an error in the console of Chromium, whatever the page makes of it; and
 * so is a stream that the service ends.
 */
const REFUSED = /Failed to load resource: the server responded with a status of (\d+)/
export const STREAM_ENDED = 'net::ERR_INCOMPLETE_CHUNKED_ENCODING'

export class Browsing {
  #browser: Browser | null = null
  #context: BrowserContext | null = null
  /** What the console said, besides what the test expects. */
  readonly complaints: string[] = []

  async start(): Promise<void> {
    if (CHROMIUM !== undefined)
      this.#browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  }

  async stop(): Promise<void> {
    await this.#browser?.close()
  }

  /** `expected` are the statuses that this test provokes, and parts of other complaints. */
  async open(url: string, look: Look = {}, expected: readonly (number | string)[] = []): Promise<Page> {
    const { width = 1280, colours = 'light' } = look
    const context = await this.#browser!.newContext({
      viewport: { width, height: 900 },
      colorScheme: colours,
      reducedMotion: 'reduce',
    })
    this.#context = context
    const page = await context.newPage()
    page.on('console', message => {
      const text = message.text()
      const status = REFUSED.exec(text)?.[1]
      const isExpected = expected.some(one =>
        typeof one === 'number' ? status === String(one) : text.includes(one),
      )
      const isComplaint = message.type() === 'error' || message.type() === 'warning'
      if (isComplaint && !isExpected) this.complaints.push(text)
    })
    page.on('pageerror', error => this.complaints.push(String(error)))
    await page.goto(url)
    return page
  }

  /** What the console has complained about since the last time. */
  async close(): Promise<string[]> {
    await this.#context?.close()
    this.#context = null
    return this.complaints.splice(0)
  }
}

/** One browser for a file. Each test has a profile of its own in it, and leaves nothing in its console. */
export function useBrowser(): Browsing {
  const browsing = new Browsing()
  beforeAll(() => browsing.start(), TEST_LIMIT_MS)
  afterEach(async () => expect(await browsing.close()).toEqual([]))
  afterAll(() => browsing.stop(), TEST_LIMIT_MS)
  return browsing
}
