/**
 * `npm run screenshots` writes the pictures of the page beside this file: a service of its own, a lock that
 * some clients use, and the Chromium of this machine.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { createBaton } from '../../client/index.ts'
import { CHROMIUM, NO_CHROMIUM } from '../../test/chromium.ts'
import { startService } from '../../worker/local/service.ts'

const LOCK = 'orders'

const SHOTS = [
  { name: 'desktop', width: 1280, height: 1020, colours: 'light' },
  { name: 'dark', width: 1280, height: 1020, colours: 'dark' },
  { name: 'phone', width: 390, height: 1_240, colours: 'light' },
] as const

/** At which participant they ask, and how long each of them keeps the lock. */
const CLIENTS = [
  { owner: 'checkout-paris', at: 1, holdMs: 2_100 },
  { owner: 'checkout-virginia', at: 2, holdMs: 1_500 },
  { owner: 'checkout-tokyo', at: 3, holdMs: 2_700 },
  { owner: 'refunds-tokyo', at: 3, holdMs: 1_200 },
]

if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM)
const storage = await mkdtemp(join(tmpdir(), 'baton-screenshots-'))
const service = await startService({ port: 0, storage, onOutput: line => console.error(line) })
await createBaton({ url: service.url })
  .lock(LOCK)
  .transact([{ put: 'left', value: 500 }])
const end = new AbortController()
const clients = CLIENTS.map(client => keepBusy(client))
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
try {
  for (const { name, width, height, colours } of SHOTS) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: colours })
    await page.goto(`${service.url}/#/locks/${LOCK}`)
    await untilLively(page)
    await writeFile(fileURLToPath(new URL(`${name}.png`, import.meta.url)), await page.screenshot())
    await page.close()
    console.log(`docs/page/${name}.png`)
  }
} finally {
  end.abort()
  await Promise.all(clients)
  await browser.close()
  await service.stop()
  await rm(storage, { recursive: true, force: true })
}

/** Somebody holds the lock, somebody waits, and there is news enough to fill the page. */
async function untilLively(page: Page): Promise<void> {
  const holder = page.getByRole('region', { name: 'Holder' })
  await page.locator('.news li').nth(11).waitFor()
  await holder.getByText(/^(checkout|refunds)-/).waitFor()
  await holder.getByText(/wait/).first().waitFor()
  await page.locator('.times').first().waitFor()
  // The token has come to rest.
  await holder.getByText(/^[6-9]\d\d ms$/).waitFor()
}

async function keepBusy({ owner, at, holdMs }: (typeof CLIENTS)[number]): Promise<void> {
  const lock = createBaton({ url: service.url }).lock(LOCK)
  for (let order = 1; !end.signal.aborted; order++) {
    const held = await lock
      .acquire({ owner, at, ttlMs: 8_000, waitMs: 60_000, signal: end.signal })
      .catch(() => null)
    if (held === null) return
    await pause(holdMs / 3)
    await held.apply([{ increment: 'sold' }, { put: `last/${owner}`, value: order }])
    await pause(holdMs / 3)
    await held.apply([{ increment: 'left', by: -1 }])
    await pause(holdMs / 3)
    await held.release()
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
