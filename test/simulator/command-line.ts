/** The options of `npm run sim`. A bad option is refused with a sentence, not guessed at. */
import { type OptionValues, parseOptions, UsageError } from '../../cli/arguments.ts'
import { CHANGING_PROTOCOLS } from '../../shared/protocols/members/which.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { describeFaults, FAULT_GROUPS, FAULTS, type Fault, faultsNamed } from './faults.ts'
import type { RunOptions } from './scenario.ts'

export const PROTOCOLS: readonly ProtocolName[] = [
  'wme-1',
  'wme-2',
  'wme-consensus',
  'ricart-agrawala',
  'maekawa',
]
export const MAX_PARTICIPANTS = 13

export interface CommandLine {
  /** The whole service on a simulated platform, instead of the protocols alone. */
  readonly service: boolean
  /** Of a run of the service: what is left out, by the names that a smaller run was printed with. */
  readonly without: readonly string[]
  readonly protocols: readonly ProtocolName[]
  readonly participants: readonly number[]
  /** For each protocol and number of participants. */
  readonly seeds: number
  readonly firstSeed: number
  readonly faults: readonly Fault[]
  readonly durationMs: number | null
  readonly users: number | null
  readonly plain: boolean
  readonly members: boolean
  readonly workers: number
  readonly json: boolean
  readonly stopAtFirst: boolean
  readonly shrink: boolean
  /** Run this one seed only. */
  readonly replay: number | null
  readonly trace: boolean
  readonly help: boolean
}

export const HELP = `npm run sim -- [options]
npm run sim -- --service [options]

  --service              the whole service (participants, router, client) on a simulated platform, instead of the
                         protocols alone: protocols, participants, faults and clients are drawn from the seed
  --protocol NAMES       ${PROTOCOLS.join(', ')} or all; several separated by commas (all)
  --participants NUMBERS 1 to ${MAX_PARTICIPANTS}; several separated by commas (3)
  --seeds NUMBER         runs for each protocol and number of participants (100)
  --first-seed NUMBER    (1)
  --faults NAMES         ${FAULT_GROUPS.join(', ')}, or of these, separated by commas (all):
                         ${FAULTS.slice(0, 8).join(', ')},
                         ${FAULTS.slice(8).join(', ')}
  --duration MS          virtual length of the phase with faults (drawn from the seed)
  --users NUMBER         most users for each participant (drawn from the seed)
  --plain                without the protocol's options, which are drawn from the seed otherwise
  --members              operators change the members of the lock all the time
                         (${CHANGING_PROTOCOLS.join(', ')})
  --workers NUMBER       threads (1)
  --stop-at-first        end with the first violation
  --no-shrink            do not look for a smaller run with the same violation
  --json                 one JSON object on standard output
  --replay SEED          run one seed again; with --trace print all that happens
  --without ITEMS        with --service --replay: leave these faults and actions out, as a smaller run says
  --birth                the birth of locks instead of a protocol: see --birth --help
  --help

Exit status: 0 no violation, 1 a violation or something that never happened, 2 bad options.
`

const OPTIONS = {
  service: { type: 'boolean' },
  protocol: { type: 'string' },
  participants: { type: 'string' },
  seeds: { type: 'string' },
  'first-seed': { type: 'string' },
  faults: { type: 'string' },
  duration: { type: 'string' },
  users: { type: 'string' },
  plain: { type: 'boolean' },
  workers: { type: 'string' },
  'stop-at-first': { type: 'boolean' },
  'no-shrink': { type: 'boolean' },
  json: { type: 'boolean' },
  members: { type: 'boolean' },
  replay: { type: 'string' },
  trace: { type: 'boolean' },
  without: { type: 'string' },
  help: { type: 'boolean' },
} as const

type Values = OptionValues<typeof OPTIONS>

export function parseCommandLine(words: readonly string[]): CommandLine {
  const { values, positionals } = parseOptions(words, OPTIONS)
  if (positionals.length > 0) throw new UsageError(`'${positionals[0]}' is no option`)
  const number = <Default>(option: keyof Values, least: number, most: number, otherwise: Default) => {
    const value = values[option]
    return typeof value === 'string' ? integer(value, `--${option}`, least, most) : otherwise
  }
  const command: CommandLine = {
    service: values.service,
    without: listOf(values.without ?? ''),
    protocols: protocolsIn(values.protocol ?? 'all', values.members),
    participants: listOf(values.participants ?? '3').map(text =>
      integer(text, '--participants', 1, MAX_PARTICIPANTS),
    ),
    seeds: number('seeds', 1, 1e9, 100),
    firstSeed: number('first-seed', 0, 1e15, 1),
    faults: faultsIn(values.faults),
    durationMs: number('duration', 1, 1e7, null),
    users: number('users', 1, 10, null),
    plain: values.plain,
    members: values.members,
    workers: number('workers', 1, 64, 1),
    json: values.json,
    stopAtFirst: values['stop-at-first'],
    shrink: !values['no-shrink'],
    replay: number('replay', 0, 1e15, null),
    trace: values.trace,
    help: values.help,
  }
  refuseContradictions(command, values)
  return command
}

/** What a run of the service draws from its seed. */
const OF_PROTOCOLS = ['protocol', 'participants', 'faults', 'duration', 'users', 'plain', 'members'] as const

function refuseContradictions(command: CommandLine, values: Values): void {
  const { service, replay, trace, protocols, participants } = command
  if (trace && replay === null) throw new UsageError("'--trace' needs '--replay SEED'")
  if (values.without !== undefined && !(service && replay !== null)) {
    throw new UsageError("'--without' needs '--service' and '--replay SEED'")
  }
  if (service) {
    const foreign = OF_PROTOCOLS.find(option => values[option] !== undefined && values[option] !== false)
    if (foreign !== undefined) throw new UsageError(`'--${foreign}' is not for '--service'`)
  } else if (replay !== null && !(protocols.length === 1 && participants.length === 1)) {
    throw new UsageError("'--replay' needs one '--protocol' and one number of '--participants'")
  }
}

const listOf = (value: string): string[] => value.split(',').filter(word => word !== '')

function protocolsIn(value: string, isChanging: boolean): readonly ProtocolName[] {
  if (value === 'all') return isChanging ? CHANGING_PROTOCOLS : PROTOCOLS
  const named = listOf(value).map(protocolNamed)
  const fixed = isChanging ? named.find(name => !CHANGING_PROTOCOLS.includes(name)) : undefined
  if (fixed !== undefined) throw new UsageError(`the members of '${fixed}' stay: it cannot do '--members'`)
  return named
}

function protocolNamed(name: string): ProtocolName {
  const protocol = PROTOCOLS.find(known => known === name)
  if (protocol === undefined)
    throw new UsageError(`there is no protocol '${name}': ${PROTOCOLS.join(', ')} or all`)
  return protocol
}

function faultsIn(value: string | undefined): readonly Fault[] {
  if (value === undefined) return FAULTS
  const chosen = new Set(listOf(value).flatMap(faultsOrRefuse))
  return FAULTS.filter(fault => chosen.has(fault))
}

function faultsOrRefuse(name: string): readonly Fault[] {
  const faults = faultsNamed(name)
  if (faults === null)
    throw new UsageError(`there is no fault '${name}': ${[...FAULT_GROUPS, ...FAULTS].join(', ')}`)
  return faults
}

function integer(value: string, option: string, least: number, most: number): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number >= least && number <= most) return number
  throw new UsageError(`'${option}' is an integer from ${least} to ${most}, not '${value}'`)
}

/** The command that runs this seed again. */
export function replayCommand(options: RunOptions, seed: number): string {
  const { protocol, participants, faults, durationMs, users, plain, members } = options
  const words = [
    'npm run sim --',
    `--protocol ${protocol}`,
    `--participants ${participants}`,
    `--replay ${seed}`,
  ]
  if (faults.length < FAULTS.length) words.push(`--faults ${describeFaults(faults)}`)
  if (durationMs !== null) words.push(`--duration ${durationMs}`)
  if (users !== null) words.push(`--users ${users}`)
  if (plain) words.push('--plain')
  if (members) words.push('--members')
  return `${words.join(' ')} --trace`
}
