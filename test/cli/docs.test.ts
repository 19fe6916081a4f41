/**
 * docs/cli.md says what `baton` says: its help texts word for word, its examples run and compared, its tables
 * of codes.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../cli/commands.ts'
import { EXIT, EXIT_CODES, RUN_EXIT_CODES, RUN_OFFSET } from '../../cli/exit-codes.ts'
import { generalHelp, helpOf } from '../../cli/help.ts'
import { VERBS } from '../../shared/api/routes.ts'
import { blocksOf, pageAt } from '../readme/markdown.ts'
import { runCommands } from '../readme/shell.ts'
import { useService } from '../service/harness.ts'
import { MAIN, useBaton } from './baton.ts'

const { text } = pageAt('docs/cli.md')
const blocks = blocksOf(text)
const service = useService()
const baton = useBaton(() => service.url)

/** A folder of programs that has `baton` in it. */
const programs = mkdtempSync(join(tmpdir(), 'baton-bin-'))
afterAll(() => rmSync(programs, { recursive: true }))
writeFileSync(join(programs, 'baton'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
chmodSync(join(programs, 'baton'), 0o755)

describe('the help', () => {
  it.each(COMMANDS.map(command => [command.name, command] as const))(
    'of %s stands in the page',
    (name, command) => {
      const block = blocks.find(
        ({ text }) => text.startsWith(`usage: baton ${name} `) || text.startsWith(`usage: baton ${name}\n`),
      )
      expect(`${block?.text}\n`).toBe(helpOf(command))
      expect(text).toContain(`\n### baton ${name}\n`)
    },
  )

  it('of all commands stands in the page', () => {
    expect(blocks.map(({ text }) => `${text}\n`)).toContain(generalHelp(COMMANDS))
  })

  it('keeps to a width that fits a terminal', () => {
    const lines = [generalHelp(COMMANDS), ...COMMANDS.map(helpOf)].flatMap(help => help.split('\n'))
    expect(lines.filter(line => line.length > 120)).toEqual([])
  })

  it('names every verb of a key', () => {
    const key = COMMANDS.find(({ name }) => name === 'key')!
    for (const verb of VERBS) expect(helpOf(key)).toContain(verb)
  })
})

describe('the exit codes', () => {
  it.each([
    ['all commands', EXIT_CODES],
    ['baton run', RUN_EXIT_CODES],
  ])('of %s stand in the page, and in no other words', (_, codes) => {
    expect(text).toContain(codes.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n'))
  })

  it('are those of the code', () => {
    expect(EXIT_CODES.map(([code]) => code)).toEqual([...Object.values(EXIT).map(String), '128+n'])
    const own = [EXIT.refused, EXIT.usage, EXIT.busy, EXIT.lost, EXIT.unreachable].map(code =>
      String(code + RUN_OFFSET),
    )
    expect(RUN_EXIT_CODES.map(([code]) => code).slice(0, 5)).toEqual(own)
  })
})

/** What differs from run to run is the same word in both; so are spaces that only align columns. */
function normalised(output: string): string {
  return (
    output
      .replaceAll(/\b\d+-\d+-[\w-]{8,}…?/g, 'GRANT')
      .replaceAll(/baton_[\w-]{8,}…?/g, 'KEY')
      .replaceAll(/\b[0-9a-f]{8,64}\b…?/g, 'HASH')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
      .replaceAll(/\S+\/baton\/config\.json/g, 'FILE')
      .replaceAll(/storage in \S+\)/g, 'storage in FOLDER)')
      // Whether a read has seen a mere entry depends on how long the lock was held before.
      .replaceAll(/"sequence":\d+\}$/gm, '"sequence":NUMBER}')
      .replaceAll(/ {2,}/g, '  ')
      .trimEnd()
  )
}

interface Example {
  readonly command: string
  readonly documented: string
}

const examples: Example[] = blocks
  .filter(({ language }) => language === 'console')
  .flatMap(({ text }) => text.split(/^\$ /m).slice(1))
  .map(example => {
    const [command, ...lines] = example.split('\n')
    return { command: command!, documented: normalised(lines.join('\n')) }
  })

describe('the examples', () => {
  it('print what the page says, run one after the other', async () => {
    const here = examples.filter(({ command }) => command !== 'baton start')
    const environment = {
      PATH: `${programs}:${process.env.PATH}`,
      BATON_URL: service.url,
      XDG_CONFIG_HOME: programs,
    }
    const ran = await runCommands(
      here.map(({ command }) => command),
      environment,
    )
    const printed = ran.map(({ command, output, errors }) => ({
      command,
      documented: normalised(errors + output),
    }))
    expect(printed).toEqual(here)
  })

  it('start a service as the page says', async () => {
    const [example] = examples.filter(({ command }) => command === 'baton start')
    const started = baton.start(['start', '--port', '0', '--storage', join(programs, 'state')])
    await started.printed(/Ctrl-C/)
    started.signal('SIGINT')
    const { code, stdout } = await started.ended
    expect({ code, documented: normalised(stdout) }).toEqual({ code: 0, documented: example!.documented })
  })

  it('are there for every command', () => {
    const commands = examples.map(({ command }) => command).join('\n')
    for (const { name } of COMMANDS) expect(commands).toMatch(new RegExp(`baton ${name}\\b`))
  })

  it('are all that there is to run, but for the two ways to begin', async () => {
    const others = blocks.filter(({ language }) => language !== 'console' && language !== 'text')
    expect(others).toHaveLength(1)
    const local = others[0]!.text.split('\n').filter(line => line.startsWith('npm run'))
    const ran = await runCommands(local)
    expect(ran.map(({ status, output }) => [status, output])).toEqual([[0, generalHelp(COMMANDS)]])
  })
})
