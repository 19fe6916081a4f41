/** Each button of the live page, in a real browser, on the real service. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { CHROMIUM, NO_CHROMIUM } from '../chromium.ts'
import { itKeepsEveryPromise, useServiceWithPage } from '../service/harness.ts'
import type { TestLock } from '../service/lock.ts'
import { STREAM_ENDED, useBrowser } from './browser.ts'

const service = useServiceWithPage()
const browsing = useBrowser()

const openLock = (lock: TestLock, expected: readonly (number | string)[] = []): Promise<Page> =>
  browsing.open(`${service.url}/#/locks/${lock.name}`, {}, expected)

/** A client that has nothing to do with the page. */
const elsewhere = (lock: TestLock) => createBaton({ url: service.url }).lock(lock.name)

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const holder = (page: Page) => page.getByRole('region', { name: 'Holder' })
const news = (page: Page) => page.locator('.news')
const stateOf = (page: Page, key: string) =>
  page
    .locator('table.state tbody tr')
    .filter({ has: page.getByRole('rowheader', { name: key, exact: true }) })

async function operate(page: Page, kind: string, key: string, value?: string): Promise<void> {
  await page.getByLabel('Operation').selectOption(kind)
  await page.getByLabel('Key', { exact: true }).last().fill(key)
  if (value !== undefined)
    await page.getByLabel(kind === 'increment' ? 'By' : 'Value', { exact: true }).fill(value)
  await button(page, 'Apply').click()
}

describe.skipIf(CHROMIUM === undefined)(
  `the page${CHROMIUM === undefined ? ` (${NO_CHROMIUM})` : ''}`,
  () => {
    it('makes a lock, finds it in the list, and opens it', async () => {
      const page = await browsing.open(service.url)
      await page.getByLabel('Name', { exact: true }).fill('made:here')
      await page.getByLabel('Protocol').selectOption('wme-1')
      await page.getByLabel('Regions').fill('weur, oc, afr, me')
      await button(page, 'Make it').click()
      await page.getByRole('heading', { name: 'made:here', level: 1 }).waitFor()
      await page.locator('.participant').getByText('Western Europe', { exact: true }).waitFor()
      await expect.poll(() => page.locator('.participants tbody tr').count()).toBe(4)
      await page.getByRole('link', { name: 'Locks' }).first().click()
      await page.getByLabel('Find locks').fill('made')
      await page.getByRole('link', { name: 'made:here' }).click()
      await page.getByRole('heading', { name: 'made:here', level: 1 }).waitFor()
      await page.goto(`${service.url}/#/`)
      await page.getByLabel('Find locks').fill('nothing-begins-so')
      await page.getByText('No lock begins with nothing-begins-so').waitFor()
    })

    it('says why a lock cannot be made', async () => {
      const page = await browsing.open(service.url, {}, [400])
      await page.getByLabel('Name', { exact: true }).fill('spoilt')
      await page.getByLabel('Regions').fill('moon')
      await button(page, 'Make it').click()
      await page
        .getByRole('alert')
        .getByText(/location/)
        .waitFor()
      await page.getByLabel('Close this message').click()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.getByLabel('Name', { exact: true }).fill('no such name')
      await button(page, 'Make it').click()
      await page
        .getByRole('alert')
        .getByText(/name of a lock/)
        .waitFor()
    })

    it('acquires, operates and releases', async () => {
      const lock = service.lock()
      const page = await openLock(lock, [404])
      await page.getByText('There is no lock of this name yet').waitFor()
      await page.getByLabel('Your name').fill('anna')
      await page.getByLabel('Seconds to live').fill('60')
      await page.getByLabel('keep it alive').check()
      await button(page, 'Acquire').click()
      await holder(page).getByText('anna').waitFor()
      await news(page)
        .getByText(/anna holds the lock/)
        .waitFor()
      const { fence } = (await elsewhere(lock).status()).holder!
      expect(await holder(page).locator('.fence').textContent()).toBe(String(fence))
      await holder(page)
        .getByText(/expires in \d+ s/)
        .waitFor()

      await operate(page, 'increment', 'visits')
      await stateOf(page, 'visits').getByText('1', { exact: true }).waitFor()
      await operate(page, 'increment', 'visits', '41')
      await stateOf(page, 'visits').getByText('42', { exact: true }).waitFor()
      await operate(page, 'put', 'greeting', '{"hello":["world"]}')
      await stateOf(page, 'greeting').getByText('{"hello":["world"]}').waitFor()
      await operate(page, 'append', 'list', 'plain text')
      await stateOf(page, 'list').getByText('["plain text"]').waitFor()
      await operate(page, 'append', 'visits', '1')
      await page.getByText(/^Not applied: .*/).waitFor()
      await operate(page, 'delete', 'visits')
      await stateOf(page, 'visits').waitFor({ state: 'detached' })
      expect((await elsewhere(lock).status()).holder?.fence).toBe(fence)

      await button(page, 'Release').click()
      await holder(page).getByText('Nobody holds it').waitFor()
      await button(page, 'Acquire').waitFor()
      expect((await elsewhere(lock).status()).holder).toBeNull()
    })

    it('applies an operation without holding the lock, and says what is wrong with it', async () => {
      const lock = await service.lock().created()
      const page = await openLock(lock, [400])
      await operate(page, 'increment', 'n')
      await stateOf(page, 'n').waitFor()
      await operate(page, 'increment', 'n', 'much')
      await page.getByRole('alert').getByText(/by/).waitFor()
      expect((await elsewhere(lock).get('n')).value).toBe(1)
    })

    it('offers nothing to type into before the lock is drawn: it would be lost then', async () => {
      const lock = await service.lock().created()
      const page = await openLock(service.lock(), [404])
      let isAsked = false
      let answer = () => {}
      const isLate = new Promise<void>(resolve => {
        answer = resolve
      })
      await page.route(lock.url, async route => {
        isAsked = true
        await isLate
        await route.continue()
      })
      await page.goto(`${service.url}/#/locks/${lock.name}`)
      await expect.poll(() => isAsked).toBe(true)
      await page.getByText('Asking the service').waitFor()
      expect(await button(page, 'Apply').count()).toBe(0)
      answer()
      await operate(page, 'increment', 'typed')
      await stateOf(page, 'typed').waitFor()
    })

    it('keeps what was typed, and what was said, when the lock comes into being', async () => {
      const lock = service.lock()
      const page = await openLock(lock, [404])
      await page.getByText('There is no lock of this name yet').waitFor()
      await page.getByLabel('Your name').fill('typed-before')
      await operate(page, 'increment', 'first')
      await stateOf(page, 'first').waitFor()
      await page.getByText(/^Applied: /).waitFor()
      expect(await page.getByLabel('Your name').inputValue()).toBe('typed-before')
      expect(await page.getByLabel('Key', { exact: true }).last().inputValue()).toBe('first')
    })

    it('moves no button away from a click, when somebody takes the lock or lets it go', async () => {
      const lock = await service.lock().created()
      const page = await openLock(lock)
      await holder(page).getByText('Nobody holds it').waitFor()
      const before = await button(page, 'Apply').boundingBox()
      const held = await elsewhere(lock).acquire({ owner: 'somebody-else', ttlMs: 600_000 })
      await holder(page).getByText('somebody-else').waitFor()
      await holder(page)
        .getByText(/expires in/)
        .waitFor()
      expect(await button(page, 'Apply').boundingBox()).toEqual(before)
      await held.release()
      await holder(page).getByText('Nobody holds it').waitFor()
      expect(await button(page, 'Apply').boundingBox()).toEqual(before)
    })

    it('waits for a lock that somebody else holds, stops waiting, and sees who waits', async () => {
      const lock = service.lock()
      const held = await elsewhere(lock).acquire({ owner: 'somebody-else', ttlMs: 600_000 })
      const page = await openLock(lock)
      await holder(page).getByText('somebody-else').waitFor()
      await button(page, 'Acquire').click()
      await page.getByText('1 client waits').waitFor()
      await button(page, 'Stop waiting').click()
      await page.getByText('You no longer wait.').waitFor()
      await page.getByText('Nobody waits.').waitFor()
      await button(page, 'Acquire').click()
      await page.getByText('1 client waits').waitFor()
      await held.release()
      await page.getByText(/^The lock is yours/).waitFor()
      await holder(page).getByText('me', { exact: true }).waitFor()
      await button(page, 'Release').click()
      await holder(page).getByText('Nobody holds it').waitFor()
    })

    it('shows what others do as it happens, and the token where it is', async () => {
      const lock = await service.lock().created()
      const page = await openLock(lock)
      await page.getByRole('img', { name: /Lock .*: 3 participants/ }).waitFor()
      for (const at of [3, 2]) {
        const held = await elsewhere(lock).acquire({ at, owner: `client-${at}`, ttlMs: 600_000 })
        await page
          .getByRole('img', { name: new RegExp(`token is at participant ${at}.*client-${at}`) })
          .waitFor()
        await held.apply([{ put: 'at', value: at }])
        await stateOf(page, 'at').getByText(String(at), { exact: true }).waitFor()
        await news(page).getByText(`at = ${at}`).waitFor()
        await held.release()
        await holder(page).getByText('Nobody holds it').waitFor()
      }
      await page.getByRole('img', { name: /^Holding: \d+ times?/ }).waitFor()
      await page.getByRole('img', { name: /^Waiting: \d+ times?/ }).waitFor()
    })

    it('ejects the holder, and tells it in words', async () => {
      const lock = service.lock()
      const held = await elsewhere(lock).acquire({ owner: 'stuck', ttlMs: 600_000, keepAlive: false })
      const page = await openLock(lock)
      await holder(page).getByText('stuck').waitFor()
      // The metrics that tell of ejections have been read once.
      await page.getByRole('img', { name: /^Holding/ }).waitFor()
      await button(page, 'Eject the holder').click()
      await page.getByText(/^The holder is out/).waitFor()
      await holder(page).getByText('Nobody holds it').waitFor()
      await news(page)
        .getByText(/lost the lock: an operator forced it out/)
        .waitFor()
      await expect(held.apply([{ increment: 'n' }])).rejects.toMatchObject({ code: 'ejected' })
      await expect.poll(() => button(page, 'Eject the holder').isDisabled()).toBe(true)
    })

    it('notices that its own grant is over', async () => {
      const lock = service.lock()
      const page = await openLock(lock, [404])
      await page.getByLabel('Seconds to live').fill('2')
      await button(page, 'Acquire').click()
      await button(page, 'Release').waitFor()
      await button(page, 'Acquire').waitFor()
      await news(page)
        .getByText(/its time to live was over/)
        .waitFor()
    })

    it('asks for other members, and shows what the service says to it', async () => {
      const lock = await service.lock().created()
      // A watch at a participant that goes is broken off, and goes on elsewhere.
      const page = await openLock(lock, [409, STREAM_ENDED])
      await page.getByText('Change the members').click()
      const operators = page.getByRole('region', { name: 'For operators' })
      for (const name of ['Add', 'Replace', 'Remove']) {
        const sent = page.waitForRequest(request => request.method() === 'POST')
        await button(page, name).click()
        const request = await sent
        expect(request.url()).toBe(`${lock.url}/participants`)
        const change = request.postDataJSON()
        expect(Object.keys(change)[0]).toBe(name.toLowerCase())
        const { participants } = await (await request.response())!.json()
        const numbers = participants.map(({ id }: { readonly id: number }) => id).join(', ')
        await operators.getByText(numbers).first().waitFor()
      }
    })

    it('deletes a lock, in two steps, and only if it may', async () => {
      const lock = service.lock()
      await elsewhere(lock).acquire({ owner: 'somebody', ttlMs: 600_000, keepAlive: false })
      const page = await openLock(lock, [404, 409, STREAM_ENDED])
      await holder(page).getByText('somebody').waitFor()
      await page.getByText('Delete the lock').click()
      await button(page, 'Delete').click()
      await button(page, 'No').click()
      await button(page, 'Delete').click()
      await button(page, 'Yes, delete it with its state').click()
      await page.getByRole('alert').waitFor()
      await page.getByLabel('also while somebody holds it').check()
      await button(page, 'Delete').click()
      await button(page, 'Yes, delete it with its state').click()
      await page.getByText('There is no lock of this name yet').waitFor()
      await expect(elsewhere(lock).status()).rejects.toMatchObject({ code: 'no_such_lock' })
    })

    it('shows a lock that guards no state', async () => {
      const lock = service.lock()
      await elsewhere(lock).configure({ protocol: 'maekawa' })
      const page = await openLock(lock, [501])
      const held = await elsewhere(lock).acquire({ owner: 'reader', ttlMs: 600_000 })
      await holder(page).getByText('reader').waitFor()
      await operate(page, 'increment', 'n')
      await page.getByRole('alert').waitFor()
      await held.release()
      await holder(page).getByText('Nobody holds it').waitFor()
    })

    it('refuses a name that no lock can have, and finds its way with the keyboard', async () => {
      const page = await browsing.open(`${service.url}/#/locks/${encodeURIComponent('../x y')}`)
      await page.getByRole('alert').getByText('No lock can have this name').waitFor()
      await page.goto(`${service.url}/#/locks/%E0%A4%A`)
      await page.getByRole('alert').getByText('No lock can have this name').waitFor()
      await page.goto(service.url)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content')
    })
  },
)

itKeepsEveryPromise(service)
