/** What is drawn in a terminal, what a status is in words, and which records have a part missing. */
import { describe, expect, it } from 'vitest'
import { LiveView } from '../../cli/live-view.ts'
import { gapsOf, historyFrom } from '../../cli/recorded-history.ts'
import { statusLine, statusLines } from '../../cli/status-view.ts'
import type { LockHistory, Status } from '../../client/index.ts'

describe('the live view', () => {
  /** A terminal that understands what the view uses, and fails on anything else. */
  class Terminal {
    lines: string[] = ['$ baton status --follow']
    row = 1
    isCursorShown = true
    write(text: string): void {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is told what to do by these
      for (const [part, code] of text.matchAll(/\u001b\[([?\d]*[A-Za-z])|\r|\n|[^\u001b\r\n]+/g)) {
        if (code === '?25l' || code === '?25h') this.isCursorShown = code === '?25h'
        else if (code === 'J') this.lines.length = this.row
        else if (code?.endsWith('A')) this.row -= Number.parseInt(code, 10)
        else if (code !== undefined) throw new Error(`not understood: ${code}`)
        else if (part === '\n') this.row++
        else if (part !== '\r') this.lines[this.row] = part
      }
    }
  }

  it('draws over what it drew before, and leaves what was there', () => {
    const terminal = new Terminal()
    const view = new LiveView(
      text => terminal.write(text),
      () => ({ columns: 12, rows: 24 }),
    )
    view.draw(['one', 'two', 'three'])
    expect(terminal.lines).toEqual(['$ baton status --follow', 'one', 'two', 'three'])
    expect(terminal.isCursorShown).toBe(false)
    view.draw(['four', 'a line that is too long'])
    expect(terminal.lines).toEqual(['$ baton status --follow', 'four', 'a line that '])
    view.draw(['five', 'six', 'seven'])
    expect(terminal.lines).toEqual(['$ baton status --follow', 'five', 'six', 'seven'])
    view.end()
    expect(terminal.isCursorShown).toBe(true)
  })

  it('draws no more than fits', () => {
    const terminal = new Terminal()
    const view = new LiveView(
      text => terminal.write(text),
      () => ({ columns: 80, rows: 3 }),
    )
    view.draw(['one', 'two', 'three', 'four'])
    view.draw(['five', 'six', 'seven', 'eight'])
    expect(terminal.lines.slice(1)).toEqual(['five', 'six'])
  })

  it('draws also in a terminal that does not know its size', () => {
    const terminal = new Terminal()
    const view = new LiveView(
      text => terminal.write(text),
      () => ({ columns: 0, rows: 0 }),
    )
    view.draw(['one', 'two'])
    expect(terminal.lines.slice(1)).toEqual(['one', 'two'])
  })
})

describe('a status', () => {
  const away = { phase: null, epoch: null, sequence: null, owner: null, queue: null, suspects: null }
  const status: Status = {
    lock: 'orders',
    protocol: 'wme-2',
    generation: 1,
    holder: {
      participant: 1,
      fence: 7,
      expiresAt: '2026-01-01T00:00:00.000Z',
      since: '2025-12-31T23:59:00.000Z',
      owner: 'checkout-7',
    },
    waiting: { count: 3, since: '2025-12-31T23:59:30.000Z' },
    explanation: 'held by checkout-7 at 1 (weur) for 41 s, expires in 19 s, 3 wait; participant 3 is silent',
    participants: [
      {
        id: 1,
        location: 'weur',
        reachable: true,
        phase: 'cs-idle',
        epoch: 2,
        sequence: 9,
        owner: 1,
        queue: 3,
        suspects: [3],
      },
      {
        id: 2,
        location: null,
        reachable: true,
        phase: 'idle',
        epoch: 2,
        sequence: 8,
        owner: 1,
        queue: 0,
        suspects: [],
      },
      { id: 3, location: 'apac', reachable: false, ...away },
    ],
  }

  it('is a table for people', () => {
    expect(statusLines(status)).toEqual([
      'orders (wme-2): held by checkout-7 at participant 1 with fence 7, until 2026-01-01T00:00:00.000Z',
      '               location  phase          epoch  sequence  token  waiting  suspects',
      'participant 1  weur      cs-idle        2      9         here   3        3',
      'participant 2  -         idle           2      8         at 1   0        -',
      'participant 3  apac      not reachable',
      'In words: held by checkout-7 at 1 (weur) for 41 s, expires in 19 s, 3 wait; participant 3 is silent.',
    ])
  })

  it('is one line for a log', () => {
    expect(statusLine(status)).toBe(
      'held by checkout-7 at participant 1 with fence 7; 3 waiting; epoch 2; not reachable: 3',
    )
    expect(statusLine({ ...status, holder: null })).toMatch(/^free; /)
  })
})

describe('a record', () => {
  type Events = LockHistory['participants'][number]['events']
  const user = (type: string, at: number) => ({ type, at, user: 'u', participant: 1, fence: 1, epoch: 0 })
  const invoke = (participant: number, sequence: number, at: number) => ({
    ...{ type: 'invoke', at, participant, sequence, fence: 1, opId: `op-${sequence}`, operation: [] },
  })
  const recorded = (...events: readonly (readonly object[])[]): LockHistory => ({
    lock: 'orders',
    protocol: 'wme-2',
    resource: 'key-value',
    participants: events.map((list, index) => ({
      id: index + 1,
      reachable: true,
      events: list as unknown as Events,
    })),
  })
  const whole = [user('try', 1), user('crit', 2), invoke(1, 2, 3), user('exit', 4), user('rem', 5)]

  it('is whole if all of it can be explained', () => {
    expect(gapsOf(recorded(whole, [invoke(2, 2, 4)], []))).toEqual([])
    expect(
      gapsOf(recorded(whole, [{ type: 'restore', at: 9, participant: 2, sequence: 2, hash: '' }])),
    ).toEqual([])
  })

  it('has a gap if a participant is silent, or begins in the middle', () => {
    const silent = recorded(whole, [])
    const { participants } = silent
    expect(
      gapsOf({ ...silent, participants: [participants[0]!, { ...participants[1]!, reachable: false }] }),
    ).toEqual(['participant 2 did not answer'])
    const late = 'the record of participant 1 no longer goes back to its beginning'
    expect(gapsOf(recorded(whole.slice(1)))).toEqual([late])
    expect(gapsOf(recorded(whole, [invoke(2, 4, 9)]))).toEqual([late.replace('1', '2')])
    expect(
      gapsOf(recorded([{ type: 'response', at: 3, participant: 1, sequence: 2, opId: 'x', result: null }])),
    ).toEqual([late])
  })

  it('becomes one history in the order of time', () => {
    const { header, events } = historyFrom(recorded(whole, [invoke(2, 2, 4)]))
    expect(header).toMatchObject({ format: 1, participants: 2, resource: 'key-value' })
    expect(events.map(({ at }) => at)).toEqual([1, 2, 3, 4, 4, 5])
  })
})
