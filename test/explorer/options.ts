/** The command line: every budget of the bound is an option. */
import { type OptionValues, parseOptions as parseWords, UsageError } from '../../cli/arguments.ts'
import { type Bound, DEFAULT_BOUND, FAULTS } from './bound.ts'
import { type ExploredName, LOCK_ONLY_NAMES, REPLICATED_NAMES } from './models.ts'
import { BOUNDS, REDUCTIONS } from './reductions.ts'

export interface Options {
  readonly protocols: readonly ExploredName[]
  readonly bound: Bound
  readonly minutes: number
  readonly json: boolean
  /** Search smaller bounds first. */
  readonly ladder: boolean
  /** Search fewer faults of the bound first. */
  readonly rising: boolean
  /** Search only this rung of the ladder. */
  readonly rung: string | null
  readonly help: boolean
}

const NUMBERS = [
  ...(['participants', 'newcomers', 'tries', 'operations', 'changes', 'lag', 'ballots'] as const),
  ...FAULTS,
  'faults',
] as const

const listOf = (lines: readonly string[]): string => lines.map(line => `\n  - ${line}`).join('')

export const USAGE = `npm run explore -- [options]
  --protocol wme-1,wme-2   which protocols, side by side; also wme-consensus, ricart-agrawala,
                           maekawa
  --minutes 10             how long, for each protocol
  --ladder                 smaller bounds first (default, unless the bound is given)
  --no-ladder              the whole bound at once, not first with fewer faults
  --rung NAME              only this rung of the ladder
  --json                   one JSON array on standard output
the bound:
  --participants 3  --users 1,2  --tries 2 (of each user)  --operations 2 (in all)
  --crashes 1  --suspicions 1  --losses 1  --duplicates 1  --faults 4 (in one run)
  --newcomers 0            how many of the participants come later (not maekawa), with
  --changes 0              how often an operator asks for all but the last of the first members
  --order link|none        whether links keep the order of messages
  --lag 0                  messages that may wait on one link; 0: any number
  --ballots 3              rounds of ballots of one epoch (wme-1, wme-2)
  --readers 2,3            those of the users who share (ricart-agrawala)
  --stragglers 0  --hurries 0  --expiries 0  --withdrawals 0
reductions, which leave out nothing that could break a property:${listOf(REDUCTIONS)}
bounds besides those above, which do leave something out (worlds.ts):${listOf(BOUNDS)}`

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
/** Every budget, by its name. */
const BUDGETS = Object.fromEntries(NUMBERS.map(name => [name, TEXT])) as {
  readonly [Name in (typeof NUMBERS)[number]]: typeof TEXT
}
const BOUND_OPTIONS = { ...BUDGETS, users: TEXT, readers: TEXT, order: TEXT }
const OPTIONS = {
  ...BOUND_OPTIONS,
  ...{ protocol: TEXT, minutes: TEXT, rung: TEXT },
  ...{ ladder: FLAG, 'no-ladder': FLAG, json: FLAG, help: FLAG },
}

export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseWords(args, OPTIONS)
  if (positionals.length > 0) throw new UsageError(`not an option: ${positionals[0]}`)
  const isBoundGiven = Object.keys(BOUND_OPTIONS).some(name => Object(values)[name] !== undefined)
  return {
    protocols: protocolsOf(values.protocol ?? 'wme-1,wme-2'),
    bound: boundIn(values),
    minutes: numberOf('minutes', values.minutes ?? '10'),
    json: values.json,
    ladder: !values['no-ladder'] && (values.ladder || !isBoundGiven),
    rising: !values['no-ladder'],
    rung: values.rung ?? null,
    help: values.help,
  }
}

function boundIn(values: OptionValues<typeof BOUND_OPTIONS>): Bound {
  const changes: { [name: string]: unknown } = {}
  for (const name of NUMBERS) {
    const value = values[name]
    if (value !== undefined) changes[name] = numberOf(name, value)
  }
  const { users, readers, order } = values
  if (users !== undefined) changes.users = users.split(',').map(user => numberOf('users', user))
  if (readers !== undefined) changes.readers = readers.split(',').map(user => numberOf('readers', user))
  if (order !== undefined) {
    if (order !== 'link' && order !== 'none') throw new UsageError(`--order is link or none, not ${order}`)
    changes.order = order
  }
  return boundOf(changes as Partial<Bound>)
}

/** The default bound with these changes. By default all faults may come together. */
export function boundOf(changes: Partial<Bound>): Bound {
  const bound = { ...DEFAULT_BOUND, ...changes }
  const faults = FAULTS.reduce((sum, name) => sum + bound[name], 0)
  if (bound.readers.some(reader => !bound.users.includes(reader)))
    throw new UsageError('a reader without user')
  if (bound.users.some(user => user < 1 || user > bound.participants))
    throw new UsageError('a user without participant')
  if (bound.newcomers >= bound.participants) throw new UsageError('nobody but newcomers')
  return { ...bound, faults: Math.min(changes.faults ?? faults, faults) }
}

function protocolsOf(text: string): ExploredName[] {
  return text.split(',').map(name => {
    const known = [...REPLICATED_NAMES, ...LOCK_ONLY_NAMES].find(protocol => protocol === name)
    if (known === undefined) throw new UsageError(`unknown protocol ${name}`)
    return known
  })
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  const isWhole = Number.isInteger(number) || name === 'minutes'
  if (text === '' || !(number >= 0) || !isWhole) throw new UsageError(`--${name} is a number, not ${text}`)
  return number
}
