/** Measures every row for every number of participants and compares it with the papers. */
import { memberSets } from '../../shared/protocols/maekawa/sets/sets.ts'
import { evaluate, type Size } from './formula.ts'
import type { Figure, Figures } from './measure.ts'
import { ROWS } from './papers.ts'
import type { NoteName, Row, ScenarioName } from './row.ts'
import { SCENARIOS } from './scenarios.ts'
import { type ProtocolOf, SIZES, subjectOf, type VariantName } from './subjects.ts'

/** Fewer steps or messages than the paper's are better. */
export type Mark = 'equal' | 'better' | 'worse'

export interface Cell {
  readonly participants: number
  readonly measured: number
  readonly waitedMs: number
  readonly paper: readonly [least: number, most: number]
  /** What the formula of this code says, if there is one. */
  readonly ours: number | null
  readonly mark: Mark
}

export interface MeasuredRow extends Row {
  readonly cells: readonly Cell[]
}

/** A scenario of a variant, run once, however many rows look at it. */
export class Measurements {
  private readonly known = new Map<string, Figures>()
  private readonly protocolOf: ProtocolOf | undefined

  constructor(protocolOf?: ProtocolOf) {
    this.protocolOf = protocolOf
  }

  of(variant: VariantName, scenario: ScenarioName, participants: number, requester: number): Figures {
    const key = [variant, scenario, participants, requester].join('/')
    const figures =
      this.known.get(key) ?? SCENARIOS[scenario](subjectOf(variant, participants, requester, this.protocolOf))
    this.known.set(key, figures)
    return figures
  }
}

export function measureRows(
  measurements: Measurements,
  rows: readonly Row[] = ROWS,
  sizes: readonly number[] = SIZES,
): MeasuredRow[] {
  return rows.map(row => ({
    ...row,
    cells: sizes.map(participants => measureCell(measurements, row, participants)),
  }))
}

function measureCell(measurements: Measurements, row: Row, participants: number): Cell {
  const { variant, scenario, metric, requester, paper, ours, oursOfThree } = row
  const figures = measurements.of(variant, scenario, participants, requester)
  const figure = figures[metric]
  if (figure === undefined) throw new Error(`${variant}: ${scenario} has no ${metric}`)
  const size = sizeOf(row, participants)
  const [least, most] = typeof paper === 'string' ? [paper, paper] : paper
  const bounds = [evaluate(least, size), evaluate(most, size)] as const
  const formula = participants === 3 ? (oursOfThree ?? ours) : ours
  return {
    participants,
    measured: figure.value,
    waitedMs: figure.waitedMs,
    paper: bounds,
    ours: formula === null ? null : evaluate(formula, size),
    mark: markOf(figure, bounds),
  }
}

export function sizeOf(
  { requester, isOfAll }: Pick<Row, 'requester' | 'isOfAll'>,
  participants: number,
): Size {
  const sets = memberSets(participants)
  const mean = sets.reduce((sum, set) => sum + set.length, 0) / sets.length
  return { N: participants, K: isOfAll ? mean : sets[requester - 1]!.length }
}

/** Means of N cycles are not whole numbers. */
const NEARLY = 1e-9

export function markOf({ value, waitedMs }: Figure, [least, most]: readonly [number, number]): Mark {
  if (value > most + NEARLY || (value > least - NEARLY && waitedMs > 0)) return 'worse'
  return value < least - NEARLY ? 'better' : 'equal'
}

/** Cells that are worse than the paper's without a reason. */
export function unexplained(rows: readonly MeasuredRow[]): string[] {
  return cellsOf(rows)
    .filter(({ row, cell }) => cell.mark === 'worse' && row.note === undefined)
    .map(({ row, cell }) => describe(row, cell))
}

/** Cells that differ from what this code is said to do. */
export function unexpected(rows: readonly MeasuredRow[]): string[] {
  return cellsOf(rows)
    .filter(({ cell }) => cell.ours !== null && Math.abs(cell.measured - cell.ours) > NEARLY)
    .map(({ row, cell }) => describe(row, cell))
}

/** Reasons for rows in which nothing is worse. */
export function needless(rows: readonly MeasuredRow[]): NoteName[] {
  return rows
    .filter(({ note, cells }) => note !== undefined && cells.every(({ mark }) => mark !== 'worse'))
    .map(({ note }) => note!)
}

const cellsOf = (rows: readonly MeasuredRow[]) => rows.flatMap(row => row.cells.map(cell => ({ row, cell })))

const describe = (row: Row, { participants, measured, paper }: Cell): string =>
  `${row.variant}, N = ${participants}, ${row.scenario} ${row.metric} at ${row.requester}: ${measured}, paper ${paper.join(' to ')}`
