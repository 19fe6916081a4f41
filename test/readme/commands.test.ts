/** The commands that the README and `npm start` tell people to try are run as they stand there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, type Command, commandsOf, differencesOfShape, pageAt } from './markdown.ts'
import { type Ran, runCommands } from './shell.ts'
import { StartedService } from './started.ts'

const LOCAL = 'http://127.0.0.1:8787'
const readme = pageAt('README.md')

/** Blocks for the service on this machine. The one for a deployed service is run by test/deploy. */
const documented = blocksOf(readme.text)
  .filter(({ language, text }) => language === 'sh' && text.includes('curl'))
  .filter(({ text }) => !text.includes('workers.dev'))
  .flatMap(commandsOf)

/** On a machine that has other things to do. */
const READY_MS = 120_000

let service: StartedService

beforeAll(async () => {
  service = await StartedService.start()
}, READY_MS)
afterAll(async () => {
  expect(await service?.stop()).toBe(0)
})

const runHere = (commands: readonly Command[]): Promise<Ran[]> =>
  runCommands(commands.map(({ command }) => command.replaceAll(LOCAL, service.url)))

/** What is wrong with what a command did, in words. */
function mistakesOf({ answer }: Command, { status, output, errors }: Ran): string[] {
  if (status !== 0) return [`ended with status ${status}: ${errors}`]
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

describe('the README', () => {
  it('has commands to try, with answers', () => {
    expect(documented.length).toBeGreaterThanOrEqual(5)
    expect(documented.filter(({ answer }) => answer !== undefined).length).toBeGreaterThanOrEqual(3)
    for (const { command } of documented.filter(({ command }) => command.startsWith('curl'))) {
      expect(command).toContain(LOCAL)
    }
  })

  it('tells the truth about every one of them', async () => {
    const ran = await runHere(documented)
    const mistakes = documented.flatMap((command, index) =>
      mistakesOf(command, ran[index]!).map(mistake => `README.md:${command.line} ${mistake}`),
    )
    expect(mistakes).toEqual([])
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
