/** What the participants of some locks count and measure, in the text format of Prometheus. */
import type { ParticipantStatus } from '../participant/calls.ts'

/** `null`: the participant did not answer. */
export interface LockViews {
  readonly lock: string
  readonly participants: ReadonlyMap<number, ParticipantStatus | null>
}

interface LockMetric {
  readonly type: 'counter' | 'gauge'
  readonly help: string
  /** `undefined` if the participant, of another version, does not tell. */
  readonly of: (status: ParticipantStatus) => number | undefined
}

const SINCE = 'since the object was last loaded.'

const METRICS: { readonly [name: string]: LockMetric } = {
  baton_participant_peer_requests_total: {
    type: 'counter',
    help: `Requests to other participants ${SINCE}`,
    of: status => status.peerRequests,
  },
  baton_participant_grants_total: {
    type: 'counter',
    help: `Grants to users of this participant ${SINCE}`,
    of: status => status.counters?.grants,
  },
  baton_participant_ejections_total: {
    type: 'counter',
    help: `Users of this participant that were forced out, or whose grant expired, ${SINCE}`,
    of: status => status.counters?.ejections,
  },
  baton_participant_operations_total: {
    type: 'counter',
    help: `Operations applied here, whoever issued them, ${SINCE}`,
    of: status => status.counters?.operations,
  },
  baton_participant_epoch: {
    type: 'gauge',
    help: 'The epoch: it rises when a majority goes on without the one that had the token.',
    of: status => status.epoch,
  },
  baton_participant_sequence: {
    type: 'gauge',
    help: 'The length of the log.',
    of: status => status.sequence,
  },
  baton_participant_waiting: {
    type: 'gauge',
    help: 'Users that wait here for the lock.',
    of: status => status.queue,
  },
  baton_participant_holding: {
    type: 'gauge',
    help: '1 if a user of this participant holds the lock.',
    of: status => (status.holder === null ? 0 : 1),
  },
  baton_participant_suspects: {
    type: 'gauge',
    help: 'Participants that this one suspects to be gone.',
    of: status => status.suspects.length,
  },
  baton_participant_calls: {
    type: 'gauge',
    help: 'Calls that are not answered yet, this one included.',
    of: status => status.gauges?.calls,
  },
  baton_participant_watchers: {
    type: 'gauge',
    help: 'Watchers that are connected here.',
    of: status => status.gauges?.watchers,
  },
  baton_participant_sessions: {
    type: 'gauge',
    help: 'Sessions that are open here.',
    of: status => status.gauges?.sessions,
  },
  baton_participant_state_weight: {
    type: 'gauge',
    help: 'How heavy all keys and values are together.',
    of: status => status.gauges?.stateWeight,
  },
}

export function renderLockMetrics(views: readonly LockViews[]): string {
  if (views.length === 0) return ''
  const seats = views.flatMap(({ lock, participants }) =>
    [...participants].map(([id, status]) => ({ labels: `{lock="${lock}",participant="${id}"}`, status })),
  )
  const lines = [
    '# HELP baton_participant_up 1 if the participant answered.',
    '# TYPE baton_participant_up gauge',
  ]
  for (const { labels, status } of seats) {
    lines.push(`baton_participant_up${labels} ${status === null ? 0 : 1}`)
  }
  for (const [name, { type, help, of }] of Object.entries(METRICS)) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    for (const { labels, status } of seats) {
      const value = status === null ? undefined : of(status)
      if (value !== undefined) lines.push(`${name}${labels} ${value}`)
    }
  }
  return `${lines.join('\n')}\n`
}
