/** Commands that a page names, in a block or in a sentence, exist, and so do their options. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, type Page, ROOT } from './markdown.ts'
import { type Ran, runCommands } from './shell.ts'

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly [name: string]: string }
}

/** What these pass on is another program's business. */
const PASS_ON = ['deploy', 'test']
/** Every tool has it. */
const HELP = '--help'

interface Invocation {
  readonly script: string
  /** `key` in `npm run baton -- key`. */
  readonly command: string | undefined
  readonly options: readonly string[]
}

/** `npm run x -- --option value`, and the short forms of `npm start` and `npm test`. */
function invocationsOf(text: string): Invocation[] {
  const found = text.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(start|test))\b((?: --?[^\n`|#]*)?)/g)
  return [...found].map(([, run, short, rest]) => ({
    script: run ?? short!,
    command: /^ -- ([a-z]+)/.exec(rest!)?.[1],
    options: [...rest!.matchAll(/ (--[a-z][a-z-]*)/g)].map(([, option]) => option!),
  }))
}

const helps = new Map<string, Promise<string>>()

function helpOf({ script, command, options }: Invocation): Promise<string> {
  const variant = ['--birth', '--detector'].find(option => options.includes(option)) ?? ''
  // Without npm, which takes longer than most of them.
  const asked = [`${scripts[script]} ${variant} --help`]
  // Options of one command of the command line, and those of all.
  if (command !== undefined) asked.push(`${scripts[script]} ${command} --help`)
  const key = asked.join()
  const known = helps.get(key) ?? runCommands(asked).then(textOf)
  helps.set(key, known)
  return known
}

const textOf = (ran: readonly Ran[]): string => ran.map(({ output, errors }) => output + errors).join('\n')

async function mistakesOf(invocation: Invocation): Promise<string[]> {
  const { script, options } = invocation
  if (scripts[script] === undefined) return [`npm run ${script} does not exist`]
  if (options.length === 0 || PASS_ON.includes(script)) return []
  const help = await helpOf(invocation)
  return options
    .filter(option => option !== HELP && !new RegExp(`${option}\\b(?!-)`).test(help))
    .map(option => `npm run ${script} has no ${option}`)
}

const mistakesOn = async ({ text }: Page): Promise<string[]> =>
  (await Promise.all(invocationsOf(text).map(mistakesOf))).flat()

/** Files that are run: `node a.ts`, `npx vitest run folder`. */
function missingFiles({ text }: Page): string[] {
  const named = [...text.matchAll(/\b(?:node|npx vitest run) ((?:[\w-]+\/)+[\w.-]+)/g)]
  return named.map(match => match[1]!).filter(path => !existsSync(join(ROOT, path)))
}

describe.each(allPages())('$path', page => {
  it('names scripts and options that exist', async () => {
    expect(await mistakesOn(page)).toEqual([])
  })

  it('runs files that exist', () => {
    expect(missingFiles(page)).toEqual([])
  })
})

describe('these tests', () => {
  const page = (text: string): Page => ({ path: 'docs/spoilt.md', text })

  it('find a script that is not there', async () => {
    expect(await mistakesOn(page('`npm run sim`, `npm run simulate -- --x`, npm start'))).toEqual([
      'npm run simulate does not exist',
    ])
  })

  it('find an option that is not there', async () => {
    expect(await mistakesOn(page('`npm run sim -- --seeds 5 --seed 7` and --else'))).toEqual([
      'npm run sim has no --seed',
    ])
  })

  it('find a file that is not there', () => {
    expect(missingFiles(page('`node bench/count/main.ts`, `node bench/count/other.ts`'))).toEqual([
      'bench/count/other.ts',
    ])
  })
})
