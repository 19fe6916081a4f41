/** The simulated page in a real browser: each scenario and each button. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { SCENARIOS, scenarioNamed } from '../../../page/simulated/scenarios/all.ts'
import { prepare } from '../../../page/simulated/scenarios/stage.ts'
import { CHROMIUM, NO_CHROMIUM } from '../../chromium.ts'
import { useServiceWithPage } from '../../service/harness.ts'
import { tooWide, violationsOf } from '../axe.ts'
import { type Look, useBrowser } from '../browser.ts'

const service = useServiceWithPage()
const browsing = useBrowser()

afterEach(() => expect(browsing.complaints).toEqual([]))

async function open(query: string, look: Look = {}): Promise<Page> {
  const page = await browsing.open(`${service.url}/#/simulated?${query}`, look)
  await page.getByRole('heading', { name: 'Simulated locks' }).waitFor()
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const clock = (page: Page) => page.locator('.clock')
const events = (page: Page) => page.locator('.events li')

async function momentOf(page: Page): Promise<number> {
  return Number(/moment (\d+)/.exec(await clock(page).innerText())![1])
}

const isAt = (page: Page, moment: number) => expect.poll(() => momentOf(page)).toBe(moment)

const LOOKS = [390, 1280].flatMap(width => (['light', 'dark'] as const).map(colours => ({ width, colours })))

describe.skipIf(CHROMIUM === undefined)(
  `the simulated page${CHROMIUM === undefined ? ` (${NO_CHROMIUM})` : ''}`,
  () => {
    it.each(SCENARIOS.map(({ name, title }) => [name, title]))('shows %s to its end', async (name, title) => {
      const { captions, length } = prepare(SCENARIOS.find(one => one.name === name)!)
      const page = await open(`scenario=${name}`)
      await page.getByLabel('Prepared scenario').selectOption({ label: title })
      for (const { text } of captions) {
        await page.getByText(text.slice(0, 60)).first().waitFor()
        if (text !== captions.at(-1)!.text) await button(page, 'Next').click()
      }
      await page.getByLabel('Speed').selectOption({ label: 'Very fast' })
      await button(page, 'Run').click()
      await button(page, 'Run').waitFor()
      await isAt(page, length)
      const verdict = name === 'paused-redlock' ? 'Not safe' : 'Safe so far'
      await page.locator('.verdict').getByText(verdict).waitFor()
      expect(await violationsOf(page)).toEqual([])
    })

    it.each(LOOKS)('is readable at $width pixels, $colours', async look => {
      const page = await open('scenario=two-tokens&at=98', look)
      await events(page).first().waitFor()
      expect(await tooWide(page)).toBe(0)
      expect(await violationsOf(page)).toEqual([])
    })

    it('steps, goes back, runs, pauses, and goes to any moment', async () => {
      const page = await open('scenario=nice-run')
      await button(page, 'Step').click()
      await button(page, 'Step').click()
      await isAt(page, 3)
      await button(page, 'Back').click()
      await isAt(page, 2)
      await page.getByLabel('Speed').selectOption({ label: 'Very slow' })
      await button(page, 'Run').click()
      await button(page, 'Pause').click()
      await button(page, 'Run').waitFor()
      await page.getByLabel('Moment').fill('20')
      await isAt(page, 20)
      await button(page, 'Start').click()
      await isAt(page, 1)
      await button(page, 'Step').focus()
      await page.keyboard.press('ArrowRight')
      await isAt(page, 2)
      await page.keyboard.press('ArrowLeft')
      await isAt(page, 1)
      await button(page, 'Next').click()
      await expect.poll(() => momentOf(page)).toBeGreaterThan(1)
      const later = await momentOf(page)
      await button(page, 'Previous').click()
      await expect.poll(() => momentOf(page)).toBeLessThan(later)
    })

    it('lets the reader do everything to a run of wme-2, and the link leads back to it', async () => {
      const page = await open('protocol=wme-2&n=3&seed=1')
      await button(page, 'A user comes to stay').click()
      await page.getByLabel('Speed').selectOption({ label: 'Very fast' })
      await button(page, 'Run').click()
      await page.locator('.holder').getByText('ada').waitFor()
      await button(page, 'Run').waitFor()
      await button(page, 'It operates').click()
      await page.getByLabel('At participant', { exact: true }).selectOption('2')
      await button(page, 'A user comes').click()
      await button(page, 'Stop').click()
      await button(page, 'Let go on').click()
      await page.getByLabel('and participant').selectOption('3')
      await button(page, 'Cut the link').click()
      await events(page).getByText('The link from 2 to 3 is cut').first().waitFor()
      await button(page, 'Mend the link').click()
      await button(page, 'Suspect it').click()
      await button(page, 'Eject the holder').click()
      await button(page, 'Kill').click()
      await events(page).getByText('Participant 2 is killed').first().waitFor()
      await button(page, 'Restart').click()
      await button(page, 'Wipe its disk').click()
      await button(page, 'Restart').click()
      await page.locator('.ring .participant').nth(0).click()
      await expect.poll(() => page.getByLabel('At participant', { exact: true }).inputValue()).toBe('1')
      await button(page, 'Add participant 4').click()
      await button(page, 'Run').click()
      await page.locator('.participants tbody tr').nth(3).waitFor()
      await button(page, 'Run').waitFor()
      await button(page, 'Replace 1 by 5').click()
      await button(page, 'Remove 1').click()
      await button(page, 'A client comes again and again').click()
      await page.locator('.verdict').getByText('Safe so far').waitFor()
      const shown = await events(page).allInnerTexts()
      const address = page.url()
      await browsing.close()
      const again = await browsing.open(address)
      await events(again).first().waitFor()
      expect(await events(again).allInnerTexts()).toEqual(shown)
    })

    it('has a user leave, and marks a changed scenario as the reader’s own', async () => {
      const page = await open('scenario=owner-dies&at=12')
      await button(page, 'It leaves').click()
      await page.getByText('This is your own run now').waitFor()
      expect(page.url()).toContain('do=')
    })

    it('starts a run of any protocol', async () => {
      const page = await open('')
      for (const protocol of ['wme-1', 'wme-consensus', 'ricart-agrawala', 'maekawa', 'redlock']) {
        await page.getByLabel('Protocol').selectOption(protocol)
        await page.getByRole('spinbutton', { name: 'Participants' }).fill('5')
        await page.getByLabel('Seed', { exact: true }).fill('7')
        await page.getByLabel('Grants last (ms)').fill('5000')
        await button(page, 'Start a run').click()
        await page.getByText(`a run of your own, ${protocol}, 5 participants`).waitFor({ state: 'attached' })
        expect(page.url()).toContain(`protocol=${protocol}&n=5&seed=7&ttl=5000`)
      }
    })

    it('loads a seed of the simulator', async () => {
      const page = await open('')
      await page.getByLabel('Protocol').selectOption('wme-2')
      await page.getByLabel('Seed', { exact: true }).fill('4')
      await page.getByLabel('its members change').check()
      await button(page, 'Load the seed of the simulator').click()
      await page.getByText('A recording.').waitFor()
      await expect.poll(() => momentOf(page)).toBe(1)
      await page.getByLabel('Moment').fill('500')
      await page.locator('.verdict').getByText('Safe so far').waitFor()
      expect(await page.locator('.diagram .message').count()).toBeGreaterThan(50)
      expect(page.url()).toContain('sim=members')
    })

    it('loads a recorded history, and refuses what is none', async () => {
      const page = await open('')
      const folder = join(import.meta.dirname, '../../history/fixtures')
      const input = page.getByLabel('A recorded history')
      await input.setInputFiles(join(folder, 'bad-wme1-two-tokens.jsonl'))
      await page.locator('.verdict').getByText('Not safe').waitFor()
      await input.setInputFiles(join(folder, 'ok-two-users.jsonl'))
      await page.locator('.verdict').getByText('Safe so far').waitFor()
      await input.setInputFiles({ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('<html>') })
      await page.getByRole('alert').getByText('This is no history').waitFor()
    })

    it('saves the diagram and the history, and reads the history again', async () => {
      const { length } = prepare(scenarioNamed('false-suspicion')!)
      const page = await open(`scenario=false-suspicion&at=${length}`)
      const [picture] = await Promise.all([
        page.waitForEvent('download'),
        button(page, 'Save as SVG').click(),
      ])
      expect(picture.suggestedFilename()).toBe('baton-diagram.svg')
      expect(readFileSync((await picture.path())!, 'utf8')).toMatch(/^<svg .*<\/svg>\n$/s)
      const [history] = await Promise.all([
        page.waitForEvent('download'),
        button(page, 'Save the history').click(),
      ])
      const file = (await history.path())!
      expect(readFileSync(file, 'utf8')).toContain('"not-applied"')
      await page.getByLabel('A recorded history').setInputFiles(file)
      await page.getByText('A recording.').waitFor()
      await page.locator('.verdict').getByText('Safe so far').waitFor()
    })

    it('says what is wrong with a link', async () => {
      const page = await open('scenario=nothing')
      await page.getByRole('alert').getByText('There is no scenario').waitFor()
    })

    it('follows the browser’s way back', async () => {
      const page = await open('scenario=nice-run')
      await page.getByLabel('Prepared scenario').selectOption('two-tokens')
      await page.getByText('Five participants.').waitFor()
      await page.goBack()
      await page.getByText('Three participants, each with a copy').waitFor()
    })
  },
)
