import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { Judgement, PropertyName } from '../../shared/history/verdict.ts'
import { violated } from './builder.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url))
const fixture = (name: string) => join(fixtures, name)
const scratch = mkdtempSync(join(tmpdir(), 'check-history-'))
afterAll(() => rmSync(scratch, { recursive: true }))

function checkHistory(...argv: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [main, ...argv], { encoding: 'utf8' })
}

const BROKEN_PROPERTY: { readonly [name: string]: PropertyName } = {
  'bad-1cs-operation-left-out.jsonl': '1CS',
  'bad-1cs-state.jsonl': '1CS',
  'bad-agreed-members.jsonl': 'agreed members',
  'bad-increasing-fences.jsonl': 'increasing fences',
  'bad-mutual-exclusion.jsonl': 'mutual exclusion',
  'bad-operation-progress.jsonl': 'operation progress',
  'bad-release-progress.jsonl': 'CS-release progress',
  'bad-starvation-freedom.jsonl': 'starvation-freedom',
  'bad-up-to-date.jsonl': 'up-to-date',
  'bad-well-formedness.jsonl': 'well-formedness',
  'bad-wme1-two-tokens.jsonl': 'WME1',
  'bad-wme2-order-in-time.jsonl': 'WME2',
  'bad-wme3-failed-but-applied.jsonl': 'WME3',
}

describe('a bad history', () => {
  test('each file is in the list', () => {
    const files = readdirSync(fixtures).filter(name => name.startsWith('bad-'))
    expect(files.sort()).toEqual(Object.keys(BROKEN_PROPERTY).sort())
  })

  for (const [name, property] of Object.entries(BROKEN_PROPERTY)) {
    test(`${name} breaks ${property} and nothing else`, () => {
      const { status, stdout, stderr } = checkHistory(fixture(name), '--json')
      expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
      expect(violated(JSON.parse(stdout) as Judgement)).toEqual([property])
    })
  }

  test('is reported with its evidence', () => {
    const { status, stdout } = checkHistory(fixture('bad-wme3-failed-but-applied.jsonl'))
    expect(status).toBe(1)
    expect(stdout).toMatch(/^invalid {2}WME3 \(violations: 1\)$/m)
    expect(stdout).toMatch(/"seat-1" .* was reported as not applied, but it was applied/)
    expect(stdout).toMatch(/event 4: {"at":40,"type":"ejected"/)
    expect(stdout).toMatch(/^verdict: invalid \(safety invalid, liveness unknown\)$/m)
  })
})

describe('a good history', () => {
  test('of a lock that guards no state is judged by its own properties', () => {
    const { status, stdout } = checkHistory(fixture('ok-readers-and-a-writer.jsonl'))
    expect(status).toBe(0)
    expect(stdout).toMatch(/^valid {4}mutual exclusion$/m)
    expect(stdout).not.toContain('WME')
  })

  test('with the marks is valid', () => {
    const { status, stdout, stderr } = checkHistory(fixture('ok-two-users.jsonl'))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^verdict: valid \(safety valid, liveness valid\)$/m)
  })

  test('without the marks is safe, and that is no failure', () => {
    const { status, stdout } = checkHistory(fixture('ok-ejected-and-issued-again.jsonl'))
    expect(status).toBe(0)
    expect(stdout).toMatch(/^verdict: unknown \(safety valid, liveness unknown\)$/m)
  })

  test('that is long shows its progress', () => {
    const file = join(scratch, 'long.jsonl')
    const header = { format: 1, protocol: 'wme-1', participants: 3, resource: 'key-value', resultsKept: 100 }
    const lines = [JSON.stringify(header)]
    for (let at = 0; at < 250_000; at++) {
      const type = at % 2 === 0 ? 'try' : 'withdrawn'
      lines.push(JSON.stringify({ at, type, user: 'a user with a rather long name', participant: 1 }))
    }
    writeFileSync(file, lines.join('\n'))
    const { status, stderr } = checkHistory(file)
    expect(status).toBe(0)
    expect(stderr).toMatch(/^read 100000 lines \(\d+ %\)$/m)
    expect(stderr).toMatch(/^read 250000 events, judging/m)
  })
})

describe('what is not a history ends with status 2 and one plain message', () => {
  const cases: { [name: string]: [argv: string[], message: RegExp] } = {
    'a line that is cut off': [[fixture('broken-truncated.jsonl')], /broken-truncated.jsonl:3: not JSON/],
    'a resource that is not known': [
      [fixture('broken-resource.jsonl')],
      /:1: the resource 'abacus' is not known/,
    ],
    'a file that is not there': [[fixture('missing.jsonl')], /ENOENT/],
    'a folder': [[fixtures], /EISDIR/],
    'no file': [[], /one file is needed[\s\S]*usage:/],
    'two files': [['a', 'b'], /one file is needed/],
    'an option that is not known': [['a', '--fast'], /Unknown option '--fast'/],
  }
  for (const [name, [argv, message]] of Object.entries(cases)) {
    test(name, () => {
      const { status, stdout, stderr } = checkHistory(...argv)
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
      expect(stderr).toMatch(message)
      expect(stderr).not.toMatch(/\n {4}at /)
    })
  }

  test('an empty file', () => {
    const file = join(scratch, 'empty.jsonl')
    writeFileSync(file, '')
    expect(checkHistory(file)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/the header is missing/),
    })
  })

  test('help is not a mistake', () => {
    expect(checkHistory('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^usage:/) })
  })
})
