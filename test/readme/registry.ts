/** Who checks each block of code on a page: a test of this folder, another test, or nobody, for a reason. */
import { type Block, type Command, commandsOf, type Page } from './markdown.ts'

/** Where `npm start` serves, as the pages say it. */
export const LOCAL = 'http://127.0.0.1:8787'

export interface Named {
  readonly page: string
  /** The blocks, or the commands, that contain this text. */
  readonly contains: string
}

/** Another test checks these blocks, as they stand on their page. */
export const CHECKED_ELSEWHERE: readonly (Named & { readonly by: string })[] = [
  { page: 'README.md', contains: 'npx wrangler login', by: 'test/deploy/steps.test.ts' },
  { page: 'docs/cli.md', contains: '$ ', by: 'test/cli/docs.test.ts' },
  { page: 'docs/cli.md', contains: 'usage: baton ', by: 'test/cli/docs.test.ts' },
  { page: 'docs/library.md', contains: 'wrangler dev', by: 'test/package/package.test.ts' },
  { page: 'docs/library.md', contains: 'npm install', by: 'test/package/package.test.ts' },
  { page: 'docs/testing.md', contains: '@baton-lock/baton/', by: 'test/package/package.test.ts' },
  { page: 'docs/writing-an-interpreter.md', contains: 'host.ts', by: 'test/readme/interpreter.test.ts' },
  {
    page: 'docs/writing-an-interpreter.md',
    contains: 'participant 1: crit',
    by: 'test/readme/interpreter.test.ts',
  },
  { page: 'docs/operations.md', contains: '"level":', by: 'test/router/operations-document.test.ts' },
  {
    page: 'examples/limited-stock/README.md',
    contains: '127.0.0.1',
    by: 'test/examples/limited-stock-readme.test.ts',
  },
  {
    page: 'examples/mailing/README.md',
    contains: '127.0.0.1',
    by: 'test/examples/mailing-readme.test.ts',
  },
]

/** Nobody can run these here. */
export const CANNOT_RUN: readonly (Named & { readonly why: string })[] = [
  { page: 'docs/keys.md', contains: 'npx wrangler secret put', why: 'It changes a deployed service.' },
  {
    page: 'examples/limited-stock/README.md',
    contains: 'npx wrangler',
    why: 'It changes a deployed service.',
  },
  { page: 'examples/mailing/README.md', contains: 'npx wrangler', why: 'It changes a deployed service.' },
  {
    page: 'examples/limited-stock/README.md',
    contains: 'https://baton.example.workers.dev',
    why: 'It calls a deployed service.',
  },
]

export const isNamed = (named: Named, page: Page, text: string): boolean =>
  named.page === page.path && text.includes(named.contains)

/**
 * `run`: against the service here. `script`: its name and its options are looked up. `null`: nobody checks
 * it.
 */
export type Keeper = 'run' | 'script' | 'elsewhere' | 'cannot'

export function keeperOf(page: Page, block: Block, { command }: Command): Keeper | null {
  if (isCheckedElsewhere(page, block)) return 'elsewhere'
  if (CANNOT_RUN.some(named => isNamed(named, page, command))) return 'cannot'
  if (BATON.test(command)) return 'run'
  if (/^npm (start|test|run)\b|^npx vitest /.test(command)) return 'script'
  return command.startsWith('curl ') && command.includes(LOCAL) ? 'run' : null
}

export const isCheckedElsewhere = (page: Page, { text }: Block): boolean =>
  CHECKED_ELSEWHERE.some(named => isNamed(named, page, text))

/** The command line: of the package, or of this project. */
const BATON = /^(?:npx @baton-lock\/baton|npm run --silent baton --)(?= )/

/** The command as it can be run here, where nothing is installed from npm. */
export const runnable = (command: string): string => command.replace(BATON, 'npm run --silent baton --')

export interface KeptCommand extends Command {
  readonly page: Page
  readonly keeper: Keeper | null
}

export const keptCommandsOf = (page: Page, block: Block): KeptCommand[] =>
  commandsOf(block).map(command => ({ ...command, page, keeper: keeperOf(page, block, command) }))
