/** `baton members`, against a service that says what a test wants it to say. */
import { describe, expect, it } from 'vitest'
import { BEGUN, CHANGED, CONFLICT, serveMembers } from '../client/fake-members.ts'
import { jsonOf, useBaton } from './baton.ts'

const { run, start } = useBaton(() => 'http://127.0.0.1:1')

describe('members', () => {
  it.each([
    ['add orders', { add: {} }],
    ['add orders apac', { add: { location: 'apac' } }],
    ['remove orders 2', { remove: 2 }],
    ['replace orders 2', { replace: 2 }],
    ['replace orders 2 apac', { replace: 2, location: 'apac' }],
    ['move orders 2 apac', { replace: 2, location: 'apac' }],
  ])('%s', async (line, body) => {
    await using service = await serveMembers(CHANGED)
    expect(await run(['members', ...line.split(' '), '--url', service.url])).toEqual({
      code: 0,
      stdout: 'participant 1  weur\nparticipant 3  anywhere\ndone\n',
      stderr: '',
    })
    expect(service.asked).toEqual([{ path: '/v1/locks/orders/participants', body }])
  })

  it('waits until it is done, by asking for the same again', async () => {
    await using service = await serveMembers(BEGUN, BEGUN, CHANGED)
    const ended = await run(['members', 'remove', 'orders', '2', '--json', '--url', service.url])
    expect(ended.code).toBe(0)
    expect(jsonOf(ended)).toMatchObject({ lock: 'orders', configuration: 8, isDone: true })
    expect(service.asked.map(({ body }) => body)).toEqual(Array(3).fill({ remove: 2 }))
  })

  it('does not wait if it is told so', async () => {
    await using service = await serveMembers(BEGUN)
    const words = ['members', 'remove', 'orders', '2', '--no-wait', '--url', service.url]
    expect(await run(words)).toMatchObject({ code: 0, stdout: expect.stringMatching(/goes on\n$/) })
    expect(jsonOf(await run([...words, '--json']))).toMatchObject({ isDone: false })
    expect(service.asked).toHaveLength(2)
  })

  it('says that it is not done in time', async () => {
    await using service = await serveMembers(BEGUN)
    const ended = await run(['members', 'remove', 'orders', '2', '--wait', '1ms', '--url', service.url])
    expect(ended).toMatchObject({ code: 3, stdout: expect.stringMatching(/goes on\n$/) })
  })

  it('waits no longer because a clock is set back', async () => {
    await using service = await serveMembers(BEGUN)
    const setBack = 'const { now } = Date; let hours = 0; Date.now = () => now() - hours++ * 3_600_000'
    const { NODE_OPTIONS: options = '' } = process.env
    const environment = {
      NODE_OPTIONS: `${options} --import=data:text/javascript,${encodeURIComponent(setBack)}`,
    }
    const words = ['members', 'remove', 'orders', '2', '--wait', '1s', '--url', service.url]
    expect(await run(words, { environment })).toMatchObject({ code: 3 })
    expect(service.asked.length).toBeGreaterThan(1)
  })

  it('ends with Ctrl-C', async () => {
    await using service = await serveMembers(BEGUN)
    const waiting = start(['members', 'remove', 'orders', '2', '--wait', '10m', '--url', service.url])
    await expect.poll(() => service.asked.length, { timeout: 60_000 }).toBeGreaterThan(0)
    waiting.signal('SIGINT')
    expect(await waiting.ended).toMatchObject({ code: 130 })
  })

  it('says which participants there are if another change came first', async () => {
    await using service = await serveMembers(CONFLICT)
    const words = ['members', 'remove', 'orders', '2', '--url', service.url]
    expect(await run(words)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'baton: Another change came first. The participants are 1 (weur), 3 (anywhere).\n',
    })
    expect(jsonOf(await run([...words, '--json']))).toMatchObject({
      error: { code: 'conflict', exitCode: 1 },
    })
  })

  it.each([
    ['grow orders', "'grow' is none of add, remove, replace and move."],
    ['add', '<lock> is missing.'],
    ['add orders weur enam', "'enam' is one word too many."],
    ['remove orders', 'Which participant? Its number is missing.'],
    ['remove orders two', "The participant is a whole number from 1, not 'two'."],
    ['remove orders 2 weur', "'weur' is one word too many."],
    ['move orders 2', 'To where? The location is missing.'],
    ['add orders --wait 1s --no-wait', '--wait and --no-wait exclude each other.'],
    ['add orders --wait 5', "--wait is a duration such as 500ms, 30s or 2m, not '5'."],
  ])('%s makes no sense', async (line, message) => {
    const { code, stdout, stderr } = await run(['members', ...line.split(' ')])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.startsWith(`baton: ${message}`), stderr).toBe(true)
  })
})
