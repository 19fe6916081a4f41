/** What a command is, and what it is given. One file of `commands/` has each; main.ts runs them. */
import type { Baton, Lock } from '../client/index.ts'
import type { Option, OptionValues } from './arguments.ts'
import type { Output } from './output.ts'
import type { Environment, Settings } from './settings.ts'
import type { Signals } from './signals.ts'

export interface DescribedOption extends Option {
  /** What stands for the value in the help: `<duration>`. */
  readonly value?: string
  readonly help: string
}

export interface DescribedOptions {
  readonly [name: string]: DescribedOption
}

export const GLOBAL_OPTIONS = {
  url: { type: 'string', value: '<address>', help: 'where the service is' },
  key: {
    type: 'string',
    value: '<key>',
    help: 'the key to use; BATON_KEY is safer, as others can see command lines',
  },
  config: { type: 'string', value: '<file>', help: 'the file with address and key' },
  json: { type: 'boolean', help: 'print JSON: one object, or one on each line' },
  help: { type: 'boolean', short: 'h', help: 'print this' },
} as const satisfies DescribedOptions

export interface Context {
  readonly settings: Settings
  readonly baton: Baton
  readonly output: Output
  readonly signals: Signals
  readonly environment: Environment
  /** Rejects if nobody listens at the address. What is asked only after this was not sent in vain. */
  mustBeThere(): Promise<void>
  /** By its name; a name that no lock can have is wrong usage. */
  lock(name: string): Lock
}

export interface Call<Options extends DescribedOptions> {
  readonly options: OptionValues<Options & typeof GLOBAL_OPTIONS>
  /** As many as the usage names, at least. */
  readonly words: readonly string[]
  /** What stands after `--`. */
  readonly rest: readonly string[] | null
}

export interface Command<Options extends DescribedOptions = DescribedOptions> {
  readonly name: string
  /** The words it takes: `<needed>` and `[optional]`. */
  readonly words: readonly string[]
  /** What comes after `--`, if anything may. */
  readonly rest?: string
  /** One line for the list of commands. */
  readonly summary: string
  readonly description: string
  readonly options: Options
  readonly examples: readonly string[]
  /** In place of the table of all commands. */
  readonly exitCodes?: readonly (readonly [code: string, meaning: string])[]
  /** Added to the codes of what goes wrong around the command. */
  readonly exitOffset?: number
  /** Gives the exit code. */
  run(context: Context, call: Call<Options>): Promise<number>
}

/** For the compiler alone: the types of the options' values come from the table. */
export function defineCommand<const Options extends DescribedOptions>(command: Command<Options>): Command {
  return command as unknown as Command
}
