/**
 * One participant at all its limits stays below 100 MB. The test measures what the heap retains after a
 * collection. The resident size of a process also includes what V8 keeps for later and what the platform
 * itself needs, and the kernel's buffers of 2,000 connections do not belong to the participant.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { MEMORY_LIMIT_BYTES, memoryRows, memoryTable } from '../../shared/api/memory-table.ts'
import { MAX_ROW_BYTES, ROWS_READ_AT_ONCE } from '../../worker/participant/core/event-log.ts'
import { PEER_UNANSWERED_WEIGHT } from '../../worker/participant/peers/exchange.ts'

const own = {
  rowBytes: MAX_ROW_BYTES,
  rowsReadAtOnce: ROWS_READ_AT_ONCE,
  unansweredWeight: PEER_UNANSWERED_WEIGHT,
}

it('all limits together stay below 100 MB, and the document says so', () => {
  const sum = memoryRows(own).reduce((total, [, bytes]) => total + bytes, 0)
  expect(sum).toBeLessThan(MEMORY_LIMIT_BYTES)
  const document = fileURLToPath(new URL('../../docs/limits.md', import.meta.url))
  expect(readFileSync(document, 'utf8')).toContain(`\n${memoryTable(own)}\n`)
})

it('a participant that is filled to its limits holds less than 100 MB', { timeout: 300_000 }, () => {
  const script = fileURLToPath(new URL('fill-memory.ts', import.meta.url))
  const output = execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' })
  const filled = JSON.parse(output) as { readonly [name: string]: number }
  expect(filled.stateWeight).toBeGreaterThan(0.95 * API_LIMITS.stateWeight)
  expect(filled.results! * 200_000).toBeGreaterThan(0.9 * API_LIMITS.resultsWeight)
  expect(filled.watchers).toBe(API_LIMITS.watchersPerParticipant)
  expect(filled.sessions).toBe(API_LIMITS.sessionsPerParticipant)
  expect(filled.waiting! * 100_000).toBeGreaterThan(0.9 * API_LIMITS.callsWeight)
  // It is really full: state, results and log alone are more than a third of it.
  expect(filled.bytes).toBeGreaterThan(MEMORY_LIMIT_BYTES / 3)
  expect(filled.bytes).toBeLessThan(MEMORY_LIMIT_BYTES)
})
