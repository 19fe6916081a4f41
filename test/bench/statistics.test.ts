/** Medians, quantiles and rounding, and the tables of tools that we read. */
import { describe, expect, it } from 'vitest'
import { randomLocks } from '../../bench/case.ts'
import { cpuSeconds, megabytes, readSummary } from '../../bench/processes.ts'
import { median, quantile, rounded, spreadOf } from '../../bench/statistics.ts'

describe('statistics', () => {
  it('give values that were measured, in any order', () => {
    const values = [5, 1, 4, 2, 3]
    expect(median(values)).toBe(3)
    expect([0, 0.25, 0.75, 0.99, 1].map(share => quantile(values, share))).toEqual([1, 2, 4, 5, 5])
    expect(values).toEqual([5, 1, 4, 2, 3])
  })

  it('give the 99th percentile of a hundred values and more', () => {
    const values = Array.from({ length: 1_000 }, (_, index) => index + 1)
    expect(quantile(values, 0.99)).toBe(991)
  })

  it('have a spread of four digits', () => {
    expect(spreadOf([1.23456, 2, 3])).toEqual({ median: 2, low: 1.235, high: 3 })
    expect(rounded(123_456)).toBe(123_500)
  })

  it('refuse to say anything about nothing', () => {
    expect(() => median([])).toThrow('nothing')
  })
})

describe('what strace counts', () => {
  it('is read from its table, with and without a column of errors', () => {
    const table = `strace: Process 12 attached
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 98.62    0.021384         712        30           fdatasync
  1.20    0.000261           2       118         2 pwrite64
  0.18    0.000039          39         1           fsync
------ ----------- ----------- --------- --------- ----------------
100.00    0.021684         145       149         2 total
`
    expect(readSummary(table)).toEqual({ pwrites: 118, fsyncs: 31 })
  })

  it('is nothing if nothing was called', () => {
    expect(readSummary('strace: Process 12 attached\n')).toEqual({ pwrites: 0, fsyncs: 0 })
  })
})

describe('what a process uses', () => {
  const isLinux = process.platform === 'linux'

  it('is told by Linux, and nothing is made up elsewhere or for a process that is gone', () => {
    if (isLinux) {
      expect(cpuSeconds([process.pid])).toBeGreaterThan(0)
      expect(megabytes([process.pid])).toBeGreaterThan(1)
    } else expect([cpuSeconds([process.pid]), megabytes([process.pid])]).toEqual([null, null])
    expect([cpuSeconds([2 ** 30]), megabytes([2 ** 30])]).toEqual([null, null])
  })
})

describe('the order of locks', () => {
  it('is the same for everybody, and has all of them', () => {
    const [one, other] = [randomLocks(100), randomLocks(100)]
    const drawn = Array.from({ length: 2_000 }, one)
    expect(drawn).toEqual(Array.from({ length: 2_000 }, other))
    expect(new Set(drawn).size).toBe(100)
  })
})
