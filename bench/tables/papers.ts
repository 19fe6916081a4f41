/** Everything that the papers say. */
import { MAEKAWA, RICART_AGRAWALA } from './lock-only.ts'
import type { Row } from './row.ts'
import { LATENCY_OPTIMAL, MAJORITY_FIRST, MESSAGE_OPTIMAL, WME_1, WME_2 } from './table-1.ts'

export const ROWS: readonly Row[] = [
  ...WME_1,
  ...WME_2,
  ...MAJORITY_FIRST,
  ...LATENCY_OPTIMAL,
  ...MESSAGE_OPTIMAL,
  ...RICART_AGRAWALA,
  ...MAEKAWA,
]
