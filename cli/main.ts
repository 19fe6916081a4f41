#!/usr/bin/env node
/**
 * The command `baton`. This file finds the command that is meant, gives it what it needs, and turns what goes
 * wrong into a message and an exit code. See commands/ for the commands, settings.ts for where address and
 * key come from.
 */
import { BadRequestError, BatonError, createBaton } from '../client/index.ts'
import { mostSimilar, parseOptions, tokensOf, UsageError } from './arguments.ts'
import { type Command, type Context, GLOBAL_OPTIONS } from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT } from './exit-codes.ts'
import { explain } from './explain.ts'
import { generalHelp, helpOf, usageOf } from './help.ts'
import { Output } from './output.ts'
import { mustBeThere } from './reachable.ts'
import { readSettings, type Settings } from './settings.ts'
import { codeOfSignal, Signals } from './signals.ts'
import { versionOf } from './version.ts'

/** A person waits: that the service is away is told after a second or two, and not after half a minute. */
const RETRY = { attempts: 4, totalMs: 3_000 }

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const output = new Output(isJson(args))
  let command: Command | null = null
  let settings: Settings | null = null
  const signals = new Signals()
  try {
    const { name, others } = commandIn(args)
    if (name === null) return withoutCommand(others, output)
    if (name === 'help') return helpOn(others, output)
    command = commandNamed(name)
    const parsed = parseOptions(others, { ...GLOBAL_OPTIONS, ...command.options })
    if (parsed.values.help) return help(output, command)
    const call = { options: parsed.values, rest: parsed.rest, words: wordsFor(command, parsed) }
    settings = readSettings(parsed.values, process.env)
    for (const warning of settings.warnings) output.warn(warning)
    return await command.run(contextOf(settings, output, signals), call)
  } catch (error) {
    if (signals.received === null) return fail(error, { command, settings, output })
    // Whoever stops an operation half-way must know how to ask what became of it.
    if (error instanceof BatonError && error.outcome === 'unknown') fail(error, { command, settings, output })
    return codeOfSignal(signals.received)
  }
}

/** What stands after `--` is not for this program. */
function isJson(args: readonly string[]): boolean {
  const terminator = args.indexOf('--')
  return args.slice(0, terminator === -1 ? args.length : terminator).includes('--json')
}

/** The first word that is no option of every command, and all the others. */
function commandIn(args: readonly string[]): {
  readonly name: string | null
  readonly others: readonly string[]
} {
  for (const token of tokensOf(args, { ...GLOBAL_OPTIONS, version: { type: 'boolean' } })) {
    if (token.kind === 'positional') {
      return { name: token.value, others: args.filter((_, index) => index !== token.index) }
    }
    if (token.kind === 'option' && !(token.name in GLOBAL_OPTIONS) && token.name !== 'version') {
      throw new UsageError(
        `${token.rawName} is not an option of every command: it goes after the name of its command`,
      )
    }
  }
  return { name: null, others: args }
}

function withoutCommand(args: readonly string[], output: Output): number {
  const { values } = parseOptions(args, { ...GLOBAL_OPTIONS, version: { type: 'boolean' } })
  if (values.version) {
    output.result({ version: versionOf() }, [versionOf()])
    return EXIT.done
  }
  if (values.help) return help(output, null)
  if (output.isJson) throw new UsageError('which command? See baton --help')
  output.note(generalHelp(COMMANDS).trimEnd())
  return EXIT.usage
}

function commandNamed(name: string): Command {
  const command = COMMANDS.find(known => known.name === name)
  if (command !== undefined) return command
  const similar = mostSimilar(
    name,
    COMMANDS.map(known => known.name),
  )
  throw new UsageError(
    `there is no command '${name}'${similar === undefined ? ': see baton --help' : `; did you mean ${similar}?`}`,
  )
}

function help(output: Output, command: Command | null): number {
  const text = command === null ? generalHelp(COMMANDS) : helpOf(command)
  output.result({ help: text }, [text.trimEnd()])
  return EXIT.done
}

/** `baton help run` is `baton run --help`. */
function helpOn(args: readonly string[], output: Output): number {
  const [name, ...others] = parseOptions(args, GLOBAL_OPTIONS).positionals
  if (others.length > 0) throw new UsageError('help is for one command at a time')
  return help(output, name === undefined || name === 'help' ? null : commandNamed(name))
}

type Words = Pick<ReturnType<typeof parseOptions>, 'positionals' | 'rest'>

/** As many as the command takes. After `--` a word may begin with a dash: `baton put stock left -- -1`. */
function wordsFor(command: Command, { positionals, rest }: Words): readonly string[] {
  const words = command.rest === undefined ? [...positionals, ...(rest ?? [])] : positionals
  const needed = command.words.filter(word => word.startsWith('<'))
  if (words.length < needed.length) throw new UsageError(`${needed[words.length]} is missing`)
  const surplus = words[command.words.length]
  if (surplus === undefined) return words
  const hint = command.rest === undefined ? '' : '; the command to run goes after --'
  throw new UsageError(`'${surplus}' is one word too many${hint}`)
}

function contextOf(settings: Settings, output: Output, signals: Signals): Context {
  const { url, key } = settings
  const baton = createBaton({ url: url.value, retry: RETRY, ...(key !== null && { key: key.value }) })
  return {
    settings,
    output,
    signals,
    baton,
    environment: process.env,
    mustBeThere: () => mustBeThere(url.value, signals.signal),
    lock(name) {
      try {
        return baton.lock(name)
      } catch (error) {
        if (!(error instanceof BadRequestError)) throw error
        throw new UsageError(`'${name}' is no name of a lock: ${error.detail}`)
      }
    },
  }
}

interface Failed {
  readonly command: Command | null
  readonly settings: Settings | null
  readonly output: Output
}

function fail(error: unknown, { command, settings, output }: Failed): number {
  const { exitCode: kind, code, message, more } = explain(error, settings)
  const exitCode = kind + (command?.exitOffset ?? 0)
  const described = { code, message, exitCode, ...more }
  if (!output.isJson) output.note(`baton: ${message}`)
  // Standard output is not ours while we run somebody else's command.
  else if (command?.rest !== undefined) output.note(JSON.stringify({ event: 'failed', error: described }))
  else output.line(JSON.stringify({ error: described }))
  if (kind === EXIT.usage && command !== null && !output.isJson) {
    output.note(`usage: ${usageOf(command)}\nMore: baton ${command.name} --help`)
  }
  return exitCode
}
