/** The command line: every budget of the bound is an option. */
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

const NUMBERS = ['participants', 'tries', 'operations', 'lag', 'ballots', ...FAULTS, 'faults'] as const

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
  --order link|none        whether links keep the order of messages
  --lag 0                  messages that may wait on one link; 0: any number
  --ballots 3              rounds of ballots of one epoch (wme-1, wme-2)
  --readers 2,3            those of the users who share (ricart-agrawala)
  --stragglers 0  --hurries 0  --expiries 0  --withdrawals 0
reductions, which leave out nothing that could break a property:${listOf(REDUCTIONS)}
bounds besides those above, which do leave something out (worlds.ts):${listOf(BOUNDS)}`

export function parseOptions(args: readonly string[]): Options {
  const given = new Map<string, string>()
  for (let index = 0; index < args.length; index++) {
    const name = args[index]!
    if (!name.startsWith('--')) throw new Error(`not an option: ${name}`)
    const isFlag = ['--json', '--ladder', '--no-ladder', '--help'].includes(name)
    const value = isFlag ? 'yes' : args[++index]
    if (value === undefined) throw new Error(`${name} needs a value`)
    given.set(name.slice(2), value)
  }
  const take = (name: string): string | undefined => {
    const value = given.get(name)
    given.delete(name)
    return value
  }
  const protocols = protocolsOf(take('protocol') ?? 'wme-1,wme-2')
  const minutes = numberOf('minutes', take('minutes') ?? '10')
  const flags = {
    json: take('json'),
    ladder: take('ladder'),
    noLadder: take('no-ladder'),
    help: take('help'),
  }
  const rung = take('rung') ?? null
  const isBoundGiven = given.size > 0
  const bound = takeBound(take)
  const unknown = [...given.keys()][0]
  if (unknown !== undefined) throw new Error(`unknown option --${unknown}`)
  return {
    protocols,
    bound,
    minutes,
    json: flags.json !== undefined,
    ladder: flags.noLadder === undefined && (flags.ladder !== undefined || !isBoundGiven),
    rising: flags.noLadder === undefined,
    rung,
    help: flags.help !== undefined,
  }
}

function takeBound(take: (name: string) => string | undefined): Bound {
  const changes: { [name: string]: unknown } = {}
  for (const name of NUMBERS) {
    const value = take(name)
    if (value !== undefined) changes[name] = numberOf(name, value)
  }
  const users = take('users')
  if (users !== undefined) changes.users = users.split(',').map(user => numberOf('users', user))
  const readers = take('readers')
  if (readers !== undefined) changes.readers = readers.split(',').map(user => numberOf('readers', user))
  const order = take('order')
  if (order !== undefined) {
    if (order !== 'link' && order !== 'none') throw new Error(`--order is link or none, not ${order}`)
    changes.order = order
  }
  return boundOf(changes as Partial<Bound>)
}

/** The default bound with these changes. By default all faults may come together. */
export function boundOf(changes: Partial<Bound>): Bound {
  const bound = { ...DEFAULT_BOUND, ...changes }
  const faults = FAULTS.reduce((sum, name) => sum + bound[name], 0)
  if (bound.readers.some(reader => !bound.users.includes(reader))) throw new Error('a reader without user')
  if (bound.users.some(user => user < 1 || user > bound.participants))
    throw new Error('a user without participant')
  return { ...bound, faults: Math.min(changes.faults ?? faults, faults) }
}

function protocolsOf(text: string): ExploredName[] {
  return text.split(',').map(name => {
    const known = [...REPLICATED_NAMES, ...LOCK_ONLY_NAMES].find(protocol => protocol === name)
    if (known === undefined) throw new Error(`unknown protocol ${name}`)
    return known
  })
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  const isWhole = Number.isInteger(number) || name === 'minutes'
  if (text === '' || !(number >= 0) || !isWhole) throw new Error(`--${name} is a number, not ${text}`)
  return number
}
