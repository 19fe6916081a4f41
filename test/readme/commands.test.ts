/** The commands of all pages, and those that `npm start` prints, are run as they stand there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allPages, blocksOf, type Command, commandsOf, differencesOfShape } from './markdown.ts'
import { keptCommandsOf, LOCAL, runnable } from './registry.ts'
import { type Ran, runCommands } from './shell.ts'
import { StartedService } from './started.ts'

const pages = allPages()
  .map(page => ({
    path: page.path,
    commands: blocksOf(page.text)
      .filter(({ language }) => language === 'sh')
      .flatMap(block => keptCommandsOf(page, block))
      .filter(({ keeper }) => keeper === 'run'),
  }))
  .filter(({ commands }) => commands.length > 0)

/** On a machine that has other things to do. */
const READY_MS = 120_000

let service: StartedService

beforeAll(async () => {
  service = await StartedService.start()
}, READY_MS)
afterAll(async () => {
  expect(await service?.stop()).toBe(0)
})

/** Each page has locks of its own, so that no page finds what another one left. */
function runHere(commands: readonly Command[], page = ''): Promise<Ran[]> {
  const prefix = page === '' ? '' : `${page.replaceAll('/', '.')}.`
  const here = ({ command }: Command): string =>
    runnable(command).replaceAll(LOCAL, service.url).replaceAll('/v1/locks/', `/v1/locks/${prefix}`)
  return runCommands(commands.map(here), { BATON_URL: service.url })
}

/** What is wrong with what a command did, in words. */
function mistakesOf({ command, answer }: Command, { status, output, errors }: Ran): string[] {
  if (status !== 0) return [`ended with status ${status}: ${errors}`]
  if (!command.startsWith('curl')) return output === '' ? ['printed nothing'] : []
  const actual = parse(output)
  if (actual === undefined) return output === '' && answer === undefined ? [] : [`answered: ${output}`]
  if (isProblem(actual)) return [`was refused: ${output}`]
  return answer === undefined ? [] : differencesOfShape(answer, actual)
}

const isProblem = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'code' in answer

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe.each(pages)('$path', ({ path, commands }) => {
  it('tells the truth about every command', async () => {
    const ran = await runHere(commands, path)
    const mistakes = commands.flatMap((command, index) =>
      mistakesOf(command, ran[index]!).map(mistake => `${path}:${command.line} ${mistake}`),
    )
    expect(mistakes).toEqual([])
  })
})

describe('the README', () => {
  const { commands } = pages.find(({ path }) => path === 'README.md')!

  it('has commands to try, with answers', () => {
    expect(commands.length).toBeGreaterThanOrEqual(5)
    expect(commands.filter(({ answer }) => answer !== undefined).length).toBeGreaterThanOrEqual(3)
  })

  it('begins with an operation that is applied once, however often it is sent', async () => {
    const ran = await runHere(commands.slice(0, 2), 'again')
    const [first, again] = ran.map(({ output }) => parse(output) as { sequence: number; results: unknown })
    expect(again!.sequence).toBe(first!.sequence)
    expect(again!.results).toEqual(first!.results)
    expect(first!.results).toEqual([{ value: 1, revision: first!.sequence }])
  })
})

describe('npm start', () => {
  const printedCommands = () =>
    service.printed
      .split('\n')
      .map(line => line.trim())
      .filter(line => line.startsWith('curl '))
      .map((command, line): Command => ({ command, answer: undefined, line }))

  it('prints commands that work', async () => {
    const commands = printedCommands()
    expect(commands.length).toBeGreaterThanOrEqual(3)
    const ran = await runHere(commands)
    expect(commands.flatMap((command, index) => mistakesOf(command, ran[index]!))).toEqual([])
  })

  it('prints addresses that answer', async () => {
    const addresses = [...service.printed.matchAll(/https?:\S+\/docs\b/g)].map(([address]) => address)
    expect(addresses).toEqual([`${service.url}/docs`])
    const response = await fetch(addresses[0]!)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/html')
  })
})

describe('these tests', () => {
  const command = (text: string) => commandsOf({ language: 'sh', text, line: 1 })[0]!
  const mistakesIn = async (text: string) => mistakesOf(command(text), (await runHere([command(text)]))[0]!)
  const TRANSACT = `curl -s -X POST ${LOCAL}/v1/locks/spoilt/transact -H 'content-type: application/json' \\\n  -d `
  const RIGHT = `${TRANSACT} '{"opId":"1","ops":[{"increment":"n"}]}'`

  it('take what is right', async () => {
    expect(
      await mistakesIn(
        `${RIGHT}\n# {"fence":7,"sequence":7,"applied":true,"results":[{"value":7,"revision":7}]}`,
      ),
    ).toEqual([])
  })

  it('find a command that fails', async () => {
    const [mistake] = await mistakesIn('curl -s http://127.0.0.1:1/v1/locks/demo')
    expect(mistake).toContain('ended with status 7')
  })

  it('find a command that is refused', async () => {
    const [mistake] = await mistakesIn(`${TRANSACT} '{"opId":"1","ops":[{"increments":"n"}]}'`)
    expect(mistake).toContain('was refused')
    expect((await mistakesIn(`curl -s ${LOCAL}/v1/lock/demo`))[0]).toContain('no_such_route')
  })

  it('find another answer than the documented one', async () => {
    const mistakes = await mistakesIn(
      `${RIGHT}\n# {"fences":7,"sequence":"7","applied":false,"results":[{"value":7}]}`,
    )
    expect(mistakes).toEqual([
      '$.fences is missing',
      '$.fence is not documented',
      '$.sequence is number, not string',
      '$.applied is true, not false',
      '$.results.0.revision is not documented',
    ])
  })
})
