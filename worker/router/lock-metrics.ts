/** What the participants of some locks count and measure, in the text format of Prometheus. */
import type { ParticipantStatus } from '../participant/calls.ts'
import type { HistogramReport } from '../participant/observe/histogram.ts'

/** `null`: the participant did not answer. */
export interface LockViews {
  readonly lock: string
  readonly participants: ReadonlyMap<number, ParticipantStatus | null>
}

/** By the value of the label that the metric has besides those of every participant. */
interface Labelled {
  readonly label: string
  readonly values: { readonly [value: string]: number }
}

export interface LockMetric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** `undefined` if the participant, of another version, does not tell. */
  readonly of: (status: ParticipantStatus) => number | Labelled | HistogramReport | undefined
}

const SINCE = 'since the participant was last loaded into memory.'

export const LOCK_METRICS: { readonly [name: string]: LockMetric } = {
  baton_participant_wait_seconds: {
    type: 'histogram',
    help: `How long users of this participant waited until the lock was theirs, ${SINCE}`,
    of: status => status.measurements?.wait,
  },
  baton_participant_hold_seconds: {
    type: 'histogram',
    help: `How long users of this participant held the lock, ${SINCE}`,
    of: status => status.measurements?.hold,
  },
  baton_participant_operation_seconds: {
    type: 'histogram',
    help: `How long users of this participant waited for the outcome of an operation, ${SINCE}`,
    of: status => status.measurements?.operation,
  },
  baton_participant_grants_total: {
    type: 'counter',
    help: `Grants to users of this participant ${SINCE}`,
    of: status => status.measurements?.counters.grants,
  },
  baton_participant_withdrawals_total: {
    type: 'counter',
    help: `Users of this participant that gave up waiting, by cause (timeout or asked), ${SINCE}`,
    of: status => labelled('cause', status.measurements?.withdrawals),
  },
  baton_participant_ejections_total: {
    type: 'counter',
    help: `Users of this participant that lost the lock, by cause (expired, suspected or operator), ${SINCE}`,
    of: status => labelled('cause', status.measurements?.ejections),
  },
  baton_participant_operations_total: {
    type: 'counter',
    help: `Operations applied here, whoever issued them, ${SINCE}`,
    of: status => status.measurements?.counters.operations,
  },
  baton_participant_epoch_changes_total: {
    type: 'counter',
    help: `How often this participant saw the epoch rise ${SINCE}`,
    of: status => status.measurements?.counters.epochChanges,
  },
  baton_participant_suspicions_total: {
    type: 'counter',
    help: `How often this participant began to suspect another one ${SINCE}`,
    of: status => status.measurements?.counters.suspicions,
  },
  baton_participant_births_total: {
    type: 'counter',
    help: `How often this participant began a lock, or was taken back into one, ${SINCE}`,
    of: status => status.measurements?.counters.births,
  },
  baton_participant_peer_requests_total: {
    type: 'counter',
    help: `Requests to other participants ${SINCE}`,
    of: status => status.peerRequests,
  },
  baton_participant_epoch: {
    type: 'gauge',
    help: 'The epoch. It rises when a majority goes on without the participant that had the token.',
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
    help: 'How heavy all keys and values are together, in units of about one character.',
    of: status => status.gauges?.stateWeight,
  },
}

export const UP_METRIC = 'baton_participant_up'

export function renderLockMetrics(views: readonly LockViews[]): string {
  if (views.length === 0) return ''
  const seats = views.flatMap(({ lock, participants }) =>
    [...participants].map(([id, status]) => ({ labels: `lock="${lock}",participant="${id}"`, status })),
  )
  const lines = [`# HELP ${UP_METRIC} 1 if the participant answered.`, `# TYPE ${UP_METRIC} gauge`]
  for (const { labels, status } of seats) lines.push(`${UP_METRIC}{${labels}} ${status === null ? 0 : 1}`)
  for (const [name, { type, help, of }] of Object.entries(LOCK_METRICS)) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    for (const { labels, status } of seats) {
      const value = status === null ? undefined : of(status)
      if (value !== undefined) lines.push(...samples(name, labels, value))
    }
  }
  return `${lines.join('\n')}\n`
}

function labelled(label: string, values: Labelled['values'] | undefined): Labelled | undefined {
  return values === undefined ? undefined : { label, values }
}

function samples(name: string, labels: string, value: number | Labelled | HistogramReport): string[] {
  if (typeof value === 'number') return [`${name}{${labels}} ${value}`]
  if ('boundsMs' in value) return histogramSamples(name, labels, value)
  return Object.entries(value.values).map(
    ([of, count]) => `${name}{${labels},${value.label}="${of}"} ${count}`,
  )
}

/** Each bucket counts everything up to its bound. */
function histogramSamples(
  name: string,
  labels: string,
  { boundsMs, counts, sumMs }: HistogramReport,
): string[] {
  let count = 0
  const buckets = counts.map((own, index) => {
    count += own
    const bound = boundsMs[index]
    return `${name}_bucket{${labels},le="${bound === undefined ? '+Inf' : bound / 1_000}"} ${count}`
  })
  return [...buckets, `${name}_sum{${labels}} ${sumMs / 1_000}`, `${name}_count{${labels}} ${count}`]
}
