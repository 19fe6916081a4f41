/** What the page takes from the metrics of a lock: how long users waited and held, and who lost the lock. */
import type { TimesBucket } from '../view/times.ts'
import type { Ejections } from './story.ts'

export interface LockMetrics {
  readonly waits: readonly TimesBucket[]
  readonly holds: readonly TimesBucket[]
  readonly ejections: Ejections
}

interface Sample {
  readonly name: string
  readonly labels: { readonly [label: string]: string }
  readonly value: number
}

export function readMetrics(text: string): LockMetrics {
  const samples = text.split('\n').flatMap(line => sampleOf(line) ?? [])
  return {
    waits: buckets(samples, 'baton_participant_wait_seconds_bucket'),
    holds: buckets(samples, 'baton_participant_hold_seconds_bucket'),
    ejections: ejectionsIn(samples),
  }
}

const SAMPLE = /^(\w+)\{([^}]*)\} (\S+)$/
const LABEL = /(\w+)="([^"]*)"/g

function sampleOf(line: string): Sample | null {
  const found = SAMPLE.exec(line)
  if (found === null) return null
  const [, name, labels, value] = found as unknown as [string, string, string, string]
  return {
    name,
    labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, text]) => [label!, text!])),
    value: Number(value),
  }
}

/** Prometheus counts each time in every bucket that is large enough; the chart wants it in one. */
function buckets(samples: readonly Sample[], name: string): TimesBucket[] {
  const upTo = new Map<number, number>()
  for (const { labels, value } of samples.filter(sample => sample.name === name)) {
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le) * 1_000
    upTo.set(bound, (upTo.get(bound) ?? 0) + value)
  }
  let before = 0
  return [...upTo]
    .sort(([left], [right]) => left - right)
    .map(([upToMs, total]) => {
      const count = total - before
      before = total
      return { upToMs, count }
    })
}

function ejectionsIn(samples: readonly Sample[]): Ejections {
  return new Map(
    samples
      .filter(({ name }) => name === 'baton_participant_ejections_total')
      .map(({ labels, value }) => [`${labels.participant} ${labels.cause}`, value]),
  )
}
