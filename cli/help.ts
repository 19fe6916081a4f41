/**
 * The help texts, made from the commands' own tables. docs/cli.md has them word for word, and a test
 * compares.
 */
import { type Command, type DescribedOptions, GLOBAL_OPTIONS } from './command.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { columns } from './output.ts'

export const usageOf = ({ name, words, rest, options }: Command): string =>
  [
    'baton',
    name,
    ...words,
    ...(Object.keys(options).length > 0 ? ['[options]'] : []),
    ...(rest === undefined ? [] : ['--', rest]),
  ].join(' ')

/** Not what all commands have in common: that stands in the general help. */
export function helpOf(command: Command): string {
  const { description, options, examples, exitCodes } = command
  const common = Object.keys(GLOBAL_OPTIONS).map(name => `--${name}`)
  return sections(
    `usage: ${usageOf(command)}`,
    description,
    ['Options', optionLines(options)],
    ['Examples', examples],
    ['Exit code', columns(exitCodes ?? [])],
    `See baton --help for ${common.slice(0, -1).join(', ')}${exitCodes === undefined ? ' and the exit codes' : ''}.`,
  )
}

export function generalHelp(commands: readonly Command[]): string {
  return sections(
    'usage: baton <command> [options]',
    'A named lock together with the state it guards: hold it, change it, look at it.',
    ['Commands', columns(commands.map(({ name, summary }) => [name, summary]))],
    ['Options of every command, before or after its name', optionLines(GLOBAL_OPTIONS)],
    [
      'Address and key, the first that is there',
      columns([
        ['--url, --key', 'on the command line'],
        ['BATON_URL, BATON_KEY', 'in the environment'],
        [
          'config.json',
          '{"url": …, "key": …} in ~/.config/baton (or $XDG_CONFIG_HOME/baton, or %APPDATA%\\baton)',
        ],
        ['http://127.0.0.1:8787', 'what `baton start` starts'],
      ]),
    ],
    ['Exit code', columns(EXIT_CODES)],
    'More on one command: baton help <command>',
  )
}

/** Paragraphs, and lists with a heading; those that are empty are left out. */
function sections(
  ...parts: readonly (string | readonly [heading: string, lines: readonly string[]])[]
): string {
  return `${parts
    .filter(part => typeof part === 'string' || part[1].length > 0)
    .map(part =>
      typeof part === 'string' ? part : `${part[0]}:\n${part[1].map(line => `  ${line}`).join('\n')}`,
    )
    .join('\n\n')}\n`
}

function optionLines(options: DescribedOptions): string[] {
  return columns(
    Object.entries(options).map(([name, { short, value, help }]) => [
      `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
      help,
    ]),
  )
}
