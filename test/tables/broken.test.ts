/** The table can fail: it notices protocols that send too much. */
import { describe, expect, it } from 'vitest'
import { ROWS } from '../../bench/tables/papers.ts'
import type { ProtocolOf, VariantName } from '../../bench/tables/subjects.ts'
import {
  type MeasuredRow,
  Measurements,
  measureRows,
  unexpected,
  unexplained,
} from '../../bench/tables/table.ts'
import { sendingOneTwice, sendingTwice } from './broken.ts'

const SMALL = [3, 5]

const measure = (variant: VariantName, protocolOf?: ProtocolOf): MeasuredRow[] =>
  measureRows(
    new Measurements(protocolOf),
    ROWS.filter(row => row.variant === variant),
    SMALL,
  )

const worse = (rows: readonly MeasuredRow[]): number =>
  rows.flatMap(({ cells }) => cells).filter(({ mark }) => mark === 'worse').length

describe('a protocol that sends too much', () => {
  it.each([
    ['wme-1', 'request'],
    ['wme-2', 'do-invoke'],
    ['message-optimal', 'decision'],
    ['ricart-agrawala', 'reply'],
    ['implicitReply', 'request'],
    ['ring: waiting', 'ring-request'],
    ['maekawa', 'locked'],
  ] as const)('%s: every %s twice', (variant, type) => {
    const broken = measure(variant, sendingTwice(type))
    expect(worse(broken)).toBeGreaterThan(worse(measure(variant)))
    expect(unexplained(broken)).not.toEqual([])
    expect(unexpected(broken)).not.toEqual([])
  })

  it.each([
    ['wme-1', 'invoke-ack'],
    ['wme-2', 'invoke-ack'],
    ['latency-optimal', 'ack'],
    ['maekawa', 'release'],
  ] as const)('%s: one %s too many', (variant, type) => {
    expect(unexpected(measure(variant, sendingOneTwice(type)))).not.toEqual([])
  })

  it('and one that does not', () => {
    for (const variant of ['wme-2', 'maekawa'] as const) expect(unexpected(measure(variant))).toEqual([])
  })
})
