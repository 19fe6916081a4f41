/** A judgement as text for the terminal. */
import { show } from './compare.ts'
import type { HistoryHeader } from './events.ts'
import type { Evidence, Judgement, PropertyVerdict } from './verdict.ts'

export function report(header: HistoryHeader, judgement: Judgement): string {
  const { verdict, safety, liveness, properties, counts } = judgement
  const counted = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  const lines = [
    `${header.protocol}, ${header.participants} participants, resource ${header.resource}`,
    counted.join(', '),
    '',
    ...properties.flatMap(propertyLines),
    '',
    `verdict: ${verdict} (safety ${safety}, liveness ${liveness})`,
  ]
  return `${lines.join('\n')}\n`
}

const VERDICT_WIDTH = 'invalid'.length + 2
const EVENT_SHOWN_CHARACTERS = 300

function propertyLines({ name, verdict, violations, evidence }: PropertyVerdict): string[] {
  const left = violations - evidence.length
  return [
    `${verdict.padEnd(VERDICT_WIDTH)}${name}${violations > 0 ? ` (violations: ${violations})` : ''}`,
    ...evidence.flatMap(evidenceLines),
    ...(left > 0 ? [`    and ${left} more`] : []),
  ]
}

function evidenceLines({ message, events }: Evidence): string[] {
  return [
    `    ${message}`,
    ...events.map(({ index, event }) => `        event ${index + 1}: ${show(event, EVENT_SHOWN_CHARACTERS)}`),
  ]
}
