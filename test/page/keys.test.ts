/** The page of a service that asks for a key. */
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { CHROMIUM, NO_CHROMIUM } from '../chromium.ts'
import { useServiceWithPage } from '../service/harness.ts'
import { useBrowser } from './browser.ts'

const KEY = 'baton_for-this-test-alone'
const entries = [{ name: 'all', hash: await sha256(KEY), locks: ['*'], verbs: ['*'] }]
const service = useServiceWithPage({ BATON_OPEN: 'false', BATON_KEYS: JSON.stringify(entries) })
const browsing = useBrowser()

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')
}

describe.skipIf(CHROMIUM === undefined)(`a key${CHROMIUM === undefined ? ` (${NO_CHROMIUM})` : ''}`, () => {
  it('is asked for where it goes, is used, and is forgotten', async () => {
    await createBaton({ url: service.url, key: KEY })
      .lock('kept')
      .transact([{ put: 'a', value: 'b' }])
    const page = await browsing.open(service.url, {}, [401])
    const problem = page.getByRole('alert')
    await problem.getByText('The service wants a key').waitFor()
    await problem.getByRole('button', { name: 'Go there' }).click()
    expect(await page.evaluate('document.activeElement.id')).toBe('key-field')

    await page.keyboard.type('baton_wrong')
    await page.keyboard.press('Enter')
    await problem.waitFor()
    await page.getByLabel('Key of the service').fill(KEY)
    await page.getByRole('button', { name: 'Use' }).click()
    await page.getByRole('link', { name: 'kept' }).click()
    await page.getByText('"b"').first().waitFor()
    await page.getByRole('button', { name: 'Acquire' }).click()
    await page.getByText(/^The lock is yours/).waitFor()

    // It stays in this tab, and in no other place.
    await page.reload()
    await page.getByText('"b"').first().waitFor()
    const kept = await page.evaluate(
      '[Object.values(sessionStorage), Object.values(localStorage), document.cookie]',
    )
    expect(kept).toEqual([[KEY], [], ''])
    await page.getByRole('button', { name: 'Forget' }).click()
    await problem.getByText('The service wants a key').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })
})
