/** `baton members <add|remove|replace|move> <lock> …`: which participants a lock has. */
import { systemClock } from '../../client/clock.ts'
import {
  BatonError,
  type ChangedMembers,
  ConflictError,
  type MembersChange,
  type Place,
} from '../../client/index.ts'
import { UsageError } from '../arguments.ts'
import { type Context, defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { columns } from '../output.ts'
import { durationOf, integerOf } from '../values.ts'

const POLL_MS = 500

export const members = defineCommand({
  name: 'members',
  words: ['<action>', '<lock>', '[participant]', '[location]'],
  summary: 'add, remove, replace or move a participant of a lock',
  description: `Changes the participants of a lock while it is used. Locations are those of Cloudflare, such as weur.

  baton members add <lock> [location]                     one more
  baton members remove <lock> <participant>               one less
  baton members replace <lock> <participant> [location]   a new one in place of this one
  baton members move <lock> <participant> <location>      the same, elsewhere

A new participant has a number that no other ever had. The command waits until the change is done: until
then the old ones must run on. If another change came first, the exit code is 1, and the present
participants are told.`,
  options: {
    'no-wait': {
      type: 'boolean',
      help: 'end as soon as the change has begun; the same again tells how far it is',
    },
    wait: {
      type: 'string',
      value: '<duration>',
      help: 'how long to wait until it is done (default 1m)',
    },
  },
  examples: [
    'baton members add orders apac',
    'baton members replace orders 2',
    'baton members move orders 2 enam --no-wait',
  ],
  exitCodes: [
    ['0', 'done, or begun with --no-wait'],
    ['1', 'refused: another change came first, or the key may not do this'],
    ['2', 'the command line makes no sense'],
    ['3', 'the change has begun and goes on, and the time to wait is over'],
    ['5', 'unreachable: no answer from the service'],
  ],
  async run(context, { options, words }) {
    const [action, name, ...others] = words as [string, string, ...string[]]
    if (options['no-wait'] && options.wait !== undefined)
      throw new UsageError('--wait and --no-wait exclude each other')
    const waitMs = options['no-wait'] ? 0 : durationOf('--wait', options.wait ?? '1m')
    const changed = await change(context, name, changeOf(action, others), waitMs)
    const { participants, isDone } = changed
    context.output.result({ lock: name, ...changed }, [
      ...placeLines(participants),
      isDone ? 'done' : 'the change has begun, and goes on',
    ])
    return isDone || options['no-wait'] ? EXIT.done : EXIT.busy
  },
})

/** The same call again, which changes nothing else, until it is done. */
async function change(
  { lock, signals: { signal } }: Context,
  name: string,
  wanted: MembersChange,
  waitMs: number,
): Promise<ChangedMembers> {
  const named = lock(name)
  const until = systemClock.now() + waitMs
  for (;;) {
    const changed = await named.changeMembers(wanted, { signal }).catch(explainConflict)
    if (changed.isDone || systemClock.now() >= until) return changed
    await systemClock.sleep(POLL_MS, { signal })
  }
}

function changeOf(action: string, words: readonly string[]): MembersChange {
  if (action === 'add') {
    const [location, surplus] = words
    if (surplus !== undefined) throw new UsageError(`'${surplus}' is one word too many`)
    return { add: { ...(location !== undefined && { location }) } }
  }
  const [id, location] = words
  if (action !== 'remove' && action !== 'replace' && action !== 'move')
    throw new UsageError(`'${action}' is none of add, remove, replace and move`)
  if (id === undefined) throw new UsageError('which participant? Its number is missing')
  const participant = integerOf('the participant', id, 1)
  if (action === 'remove') {
    if (location !== undefined) throw new UsageError(`'${location}' is one word too many`)
    return { remove: participant }
  }
  if (action === 'move' && location === undefined) throw new UsageError('to where? The location is missing')
  return { replace: participant, ...(location !== undefined && { location }) }
}

/** Whoever lost to another change wants to know what there is now. */
function explainConflict(error: unknown): never {
  if (!(error instanceof BatonError) || !(error instanceof ConflictError)) throw error
  const { participants } = error.more as { readonly participants?: readonly Place[] }
  if (participants === undefined) throw error
  const present = participants.map(({ id, location }) => `${id} (${location ?? 'anywhere'})`).join(', ')
  throw error.with({ detail: `${error.detail.replace(/\.$/, '')}. The participants are ${present}` })
}

const placeLines = (places: readonly Place[]): string[] =>
  columns(places.map(({ id, location }) => [`participant ${id}`, location ?? 'anywhere']))
