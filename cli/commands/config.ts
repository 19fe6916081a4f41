/** `baton config [lock]`: where address and key come from, and what a lock is made of. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Configuration, LockOptions } from '../../client/index.ts'
import { type OptionValues, UsageError } from '../arguments.ts'
import { type Context, defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { columns } from '../output.ts'
import type { Settings } from '../settings.ts'
import {
  integerOf,
  jsonOf,
  listOf,
  optionalDuration,
  optionalInteger,
  optionalTtl,
  writeDuration,
} from '../values.ts'

const LOCK_OPTIONS = {
  protocol: {
    type: 'string',
    value: '<name>',
    help: 'wme-2, wme-1, wme-consensus, ricart-agrawala or maekawa',
  },
  participants: { type: 'string', value: '<number>', help: 'how many, wherever they are' },
  locations: {
    type: 'string',
    value: '<names>',
    help: 'one for each participant, with commas: weur,enam,apac',
  },
  ttl: { type: 'string', value: '<duration>', help: 'how long a grant lasts without a sign of life' },
  heartbeat: { type: 'string', value: '<duration>', help: 'how often participants show that they live' },
  timeout: { type: 'string', value: '<duration>', help: 'after how long a silent one is suspected' },
  handoffs: {
    type: 'string',
    value: '<number>',
    help: 'users of one participant in a row, while others wait',
  },
  variant: { type: 'string', value: '<json>', help: 'the options of the protocol: docs/which-protocol.md' },
} as const

export const config = defineCommand({
  name: 'config',
  words: ['[lock]'],
  summary: 'show where address and key come from, or configure a lock',
  description: `Without a lock: the address and the key that all commands use, and where each comes from. --save writes them into the
file, which only you can read.

With a lock and options: makes the lock with this configuration. A lock is configured once, before its first use; the
same again is no error, another one is. With a lock alone: its protocol and its participants.`,
  options: {
    save: { type: 'boolean', help: 'write the address and the key into the file' },
    ...LOCK_OPTIONS,
  },
  examples: [
    'baton config',
    'baton config --url https://baton.example.com --key baton_… --save',
    'baton config orders --locations weur,enam,apac --ttl 1m',
  ],
  async run(context, { options, words }) {
    const [name] = words
    const wanted = lockOptionsOf(options)
    const isGiven = Object.keys(wanted).length > 0
    if (name !== undefined) {
      if (options.save) throw new UsageError('--save is for the address and the key, not for a lock')
      return isGiven ? configure(context, name, wanted) : show(context, name)
    }
    if (isGiven) throw new UsageError('which lock? Its name is missing')
    const { settings, output } = context
    if (options.save) save(settings)
    output.result(described(settings), settingsLines(settings))
    if (options.save && !output.isJson) output.line(`saved in ${settings.file.path}`)
    return EXIT.done
  },
})

async function configure(context: Context, name: string, wanted: LockOptions): Promise<number> {
  const configuration = await context.lock(name).configure(wanted, { signal: context.signals.signal })
  context.output.result(configuration, configurationLines(configuration))
  return EXIT.done
}

async function show({ lock, output, signals }: Context, name: string): Promise<number> {
  const { protocol, participants } = await lock(name).status({ signal: signals.signal })
  const places = participants.map(({ id, location }) => ({ id, location }))
  output.result({ lock: name, protocol, participants: places }, placeLines(name, protocol, places))
  return EXIT.done
}

function lockOptionsOf(options: OptionValues<typeof LOCK_OPTIONS>): LockOptions {
  const ttlMs = optionalTtl(options.ttl)
  const heartbeatMs = optionalDuration('--heartbeat', options.heartbeat)
  const timeoutMs = optionalDuration('--timeout', options.timeout)
  const localHandoffs = optionalInteger('--handoffs', options.handoffs)
  const detector = {
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
  const participants = participantsOf(options)
  return {
    ...(options.protocol !== undefined && {
      protocol: options.protocol as NonNullable<LockOptions['protocol']>,
    }),
    ...(participants !== undefined && { participants }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(Object.keys(detector).length > 0 && { detector }),
    ...(localHandoffs !== undefined && { localHandoffs }),
    ...(options.variant !== undefined && {
      options: jsonOf('--variant', options.variant) as NonNullable<LockOptions['options']>,
    }),
  }
}

function participantsOf(options: OptionValues<typeof LOCK_OPTIONS>): LockOptions['participants'] {
  const places = options.locations === undefined ? undefined : listOf(options.locations)
  const number =
    options.participants === undefined ? undefined : integerOf('--participants', options.participants, 1, 13)
  if (places === undefined)
    return number === undefined ? undefined : Array.from({ length: number }, () => ({}))
  if (number !== undefined && number !== places.length) {
    throw new UsageError(`--participants ${number} and ${places.length} --locations do not agree`)
  }
  return places.map(location => ({ location }))
}

function configurationLines({
  lock,
  protocol,
  participants,
  ttlMs,
  detector,
  localHandoffs,
  options,
}: Configuration): string[] {
  return [
    ...placeLines(lock, protocol, participants),
    ...columns([
      ['ttl', writeDuration(ttlMs)],
      ['heartbeat', writeDuration(detector.heartbeatMs)],
      ['timeout', writeDuration(detector.timeoutMs)],
      ['handoffs', String(localHandoffs)],
      ...(options === undefined ? [] : [['variant', JSON.stringify(options)]]),
    ]),
  ]
}

function placeLines(lock: string, protocol: string, places: Configuration['participants']): string[] {
  return [
    `${lock} (${protocol})`,
    ...places.map(({ id, location }) => `participant ${id}  ${location ?? 'anywhere'}`),
  ]
}

/** Enough of a key to know it by. */
const masked = (key: string): string => `${key.slice(0, 10)}…`

function described({ url, key, file }: Settings): object {
  return {
    url: url.value,
    urlFrom: url.source,
    key: key === null ? null : masked(key.value),
    keyFrom: key === null ? null : key.source,
    file: file.path,
  }
}

function settingsLines({ url, key, file }: Settings): string[] {
  return columns([
    ['address', url.value, `from ${url.source}`],
    ['key', key === null ? 'none' : masked(key.value), key === null ? '' : `from ${key.source}`],
    ['file', file.path, file.exists ? '' : '(does not exist)'],
  ])
}

/**
 * Beside it first: so no moment comes at which others can read the key, or at which the file is half written.
 */
function save({ url, key, file }: Settings): void {
  const settings = { url: url.value, ...(key !== null && { key: key.value }) }
  mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 })
  const draft = `${file.path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(draft, file.path)
}
