/** What `status` shows of a lock, as lines. */
import type { ParticipantInfo, Status } from '../client/index.ts'
import { columns } from './output.ts'

export function statusLines(status: Status): string[] {
  const { lock, protocol, participants } = status
  const head = ['', 'location', 'phase', 'epoch', 'sequence', 'token', 'waiting', 'suspects']
  return [
    `${lock} (${protocol}): ${holderOf(status)}`,
    ...columns([head, ...participants.map(rowOf)]),
    // A service of before does not explain.
    ...(status.explanation ? [`In words: ${status.explanation}.`] : []),
  ]
}

/** All of it in one line, without what changes all the time. */
export function statusLine(status: Status): string {
  const { participants } = status
  const away = participants.filter(({ reachable }) => !reachable).map(({ id }) => id)
  const waiting = participants.reduce((sum, { queue }) => sum + (queue ?? 0), 0)
  const epoch = Math.max(...participants.map(({ epoch }) => epoch ?? 0))
  return [
    holderOf(status, false),
    `${waiting} waiting`,
    `epoch ${epoch}`,
    away.length === 0 ? 'all reachable' : `not reachable: ${away.join(', ')}`,
  ].join('; ')
}

function holderOf({ holder }: Status, withTime = true): string {
  if (holder === null) return 'free'
  const { participant, fence, expiresAt, owner } = holder
  const by = owner === undefined ? '' : ` by ${owner}`
  return `held${by} at participant ${participant} with fence ${fence}${withTime ? `, until ${expiresAt}` : ''}`
}

function rowOf(participant: ParticipantInfo): string[] {
  const { id, location, reachable, phase, epoch, sequence, owner, queue, suspects } = participant
  const place = location ?? '-'
  if (!reachable) return [`participant ${id}`, place, 'not reachable', '', '', '', '', '']
  return [
    `participant ${id}`,
    place,
    phase ?? '-',
    String(epoch ?? '-'),
    String(sequence ?? '-'),
    owner === id ? 'here' : `at ${owner ?? '?'}`,
    String(queue ?? '-'),
    suspects === null || suspects.length === 0 ? '-' : suspects.join(', '),
  ]
}
