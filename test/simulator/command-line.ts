/** The options of `npm run sim`. A bad option is refused with a sentence, not guessed at. */
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
export const MOST_PARTICIPANTS = 13

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
  readonly workers: number
  readonly json: boolean
  readonly stopAtFirst: boolean
  readonly shrink: boolean
  /** Run this one seed only. */
  readonly replay: number | null
  readonly trace: boolean
  readonly help: boolean
}

export class BadOption extends Error {}

export const HELP = `npm run sim -- [options]
npm run sim -- --service [options]

  --service              the whole service (participants, router, client) on a simulated platform, instead of the
                         protocols alone: protocols, participants, faults and clients are drawn from the seed
  --protocol NAMES       ${PROTOCOLS.join(', ')} or all; several separated by commas (all)
  --participants NUMBERS 1 to ${MOST_PARTICIPANTS}; several separated by commas (3)
  --seeds NUMBER         runs for each protocol and number of participants (100)
  --first-seed NUMBER    (1)
  --faults NAMES         ${FAULT_GROUPS.join(', ')}, or of these, separated by commas (all):
                         ${FAULTS.slice(0, 8).join(', ')},
                         ${FAULTS.slice(8).join(', ')}
  --duration MS          virtual length of the phase with faults (drawn from the seed)
  --users NUMBER         most users for each participant (drawn from the seed)
  --plain                without the protocol's options, which are drawn from the seed otherwise
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

type Draft = { -readonly [Option in keyof CommandLine]: CommandLine[Option] }

const DEFAULTS: CommandLine = {
  service: false,
  without: [],
  protocols: PROTOCOLS,
  participants: [3],
  seeds: 100,
  firstSeed: 1,
  faults: FAULTS,
  durationMs: null,
  users: null,
  plain: false,
  workers: 1,
  json: false,
  stopAtFirst: false,
  shrink: true,
  replay: null,
  trace: false,
  help: false,
}

export function parseCommandLine(words: readonly string[]): CommandLine {
  const draft: Draft = { ...DEFAULTS }
  const rest = words.flatMap(word =>
    /^--[a-z-]+=/.test(word) ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : [word],
  )
  const given = new Set<string>()
  for (let option = rest.shift(); option !== undefined; option = rest.shift()) {
    given.add(option)
    const flag = FLAGS[option]
    const set = VALUES[option]
    if (flag !== undefined) flag(draft)
    else if (set === undefined) throw new BadOption(`there is no option '${option}'`)
    else {
      const value = rest.shift()
      if (value === undefined || value.startsWith('--'))
        throw new BadOption(`the option '${option}' needs a value`)
      set(draft, value, option)
    }
  }
  return checked(draft, given)
}

/** What a run of the service draws from its seed. */
const OF_PROTOCOLS = ['--protocol', '--participants', '--faults', '--duration', '--users', '--plain']

function checked(draft: Draft, given: ReadonlySet<string>): CommandLine {
  if (draft.trace && draft.replay === null) throw new BadOption("'--trace' needs '--replay SEED'")
  if (given.has('--without') && !(draft.service && draft.replay !== null)) {
    throw new BadOption("'--without' needs '--service' and '--replay SEED'")
  }
  if (draft.service) {
    const foreign = OF_PROTOCOLS.find(option => given.has(option))
    if (foreign !== undefined) throw new BadOption(`'${foreign}' is not for '--service'`)
    return draft
  }
  const isOne = draft.protocols.length === 1 && draft.participants.length === 1
  if (draft.replay !== null && !isOne) {
    throw new BadOption("'--replay' needs one '--protocol' and one number of '--participants'")
  }
  return draft
}

const FLAGS: { readonly [option: string]: (draft: Draft) => void } = {
  '--service': draft => {
    draft.service = true
  },
  '--plain': draft => {
    draft.plain = true
  },
  '--json': draft => {
    draft.json = true
  },
  '--stop-at-first': draft => {
    draft.stopAtFirst = true
  },
  '--no-shrink': draft => {
    draft.shrink = false
  },
  '--trace': draft => {
    draft.trace = true
  },
  '--help': draft => {
    draft.help = true
  },
}

const VALUES: { readonly [option: string]: (draft: Draft, value: string, option: string) => void } = {
  '--protocol': (draft, value) => {
    draft.protocols = value === 'all' ? PROTOCOLS : listOf(value).map(protocolNamed)
  },
  '--participants': (draft, value, option) => {
    draft.participants = listOf(value).map(number => integer(number, option, 1, MOST_PARTICIPANTS))
  },
  '--seeds': (draft, value, option) => {
    draft.seeds = integer(value, option, 1, 1e9)
  },
  '--first-seed': (draft, value, option) => {
    draft.firstSeed = integer(value, option, 0, 1e15)
  },
  '--faults': (draft, value) => {
    const faults = new Set(listOf(value).flatMap(faultsOrRefuse))
    draft.faults = FAULTS.filter(fault => faults.has(fault))
  },
  '--without': (draft, value) => {
    draft.without = listOf(value)
  },
  '--duration': (draft, value, option) => {
    draft.durationMs = integer(value, option, 1, 1e7)
  },
  '--users': (draft, value, option) => {
    draft.users = integer(value, option, 1, 10)
  },
  '--workers': (draft, value, option) => {
    draft.workers = integer(value, option, 1, 64)
  },
  '--replay': (draft, value, option) => {
    draft.replay = integer(value, option, 0, 1e15)
  },
}

const listOf = (value: string): string[] => value.split(',').filter(word => word !== '')

function protocolNamed(name: string): ProtocolName {
  const protocol = PROTOCOLS.find(known => known === name)
  if (protocol === undefined)
    throw new BadOption(`there is no protocol '${name}': ${PROTOCOLS.join(', ')} or all`)
  return protocol
}

function faultsOrRefuse(name: string): readonly Fault[] {
  const faults = faultsNamed(name)
  if (faults === null)
    throw new BadOption(`there is no fault '${name}': ${[...FAULT_GROUPS, ...FAULTS].join(', ')}`)
  return faults
}

function integer(value: string, option: string, least: number, most: number): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number >= least && number <= most) return number
  throw new BadOption(`'${option}' is an integer from ${least} to ${most}, not '${value}'`)
}

/** The command that runs this seed again. */
export function replayCommand(options: RunOptions, seed: number): string {
  const { protocol, participants, faults, durationMs, users, plain } = options
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
  return `${words.join(' ')} --trace`
}
