/**
 * What one participant may hold in memory at all its limits. docs/limits.md has this table, and a test
 * compares the two. A unit of weight is a character, which takes two bytes at most.
 */
import { heaviestLog } from '../protocols/log-weight.ts'
import { DEFAULT_LIMITS } from '../protocols/protocol.ts'
import { API_LIMITS } from './limits.ts'

export const MEMORY_LIMIT_BYTES = 100_000_000

const BYTES_PER_UNIT = 2
const L = API_LIMITS

/** What only the participant itself knows. */
export interface ParticipantLimits {
  readonly rowBytes: number
  readonly rowsReadAtOnce: number
  readonly unansweredWeight: number
}

type MemoryRow = readonly [what: string, bytes: number]

export function memoryRows(own: ParticipantLimits): MemoryRow[] {
  const units = (weight: number) => weight * BYTES_PER_UNIT
  return [
    ['the state', units(L.stateWeight)],
    ['the state as it was, while it is watched or exported (what has changed since)', units(L.stateWeight)],
    ['results that are remembered', units(L.resultsWeight)],
    [
      'results that were forgotten, while they are exported, and one page',
      units(L.exportForgottenWeight + L.exportPageWeight),
    ],
    [
      'the log for those who are behind, and the operation under way',
      units(heaviestLog(DEFAULT_LIMITS.logWeight) + DEFAULT_LIMITS.operationWeight),
    ],
    ['a page of a snapshot or of entries, sent and received', 2 * units(DEFAULT_LIMITS.messageWeight)],
    ['messages that peers have not answered', units(own.unansweredWeight)],
    ['what all watchers have not read, and one page more', L.unreadWatchersBytes + own.rowBytes],
    ['what all sessions have not read', L.unreadSessionsBytes],
    ['operations of the calls under way', units(L.callsWeight)],
    ['rows of the history that are read at once', own.rowsReadAtOnce * own.rowBytes],
  ]
}

export function memoryTable(own: ParticipantLimits): string {
  const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1)
  const rows = memoryRows(own)
  const sum = rows.reduce((total, [, bytes]) => total + bytes, 0)
  const lines = [...rows, ['together', sum] as const].map(
    ([what, bytes]) => `| ${what} | ${megabytes(bytes)} |`,
  )
  return ['| what is in memory | MB at most |', '|---|---|', ...lines].join('\n')
}
