import { describe, expect, it } from 'vitest'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import { Findings } from './findings.ts'
import { boundOf } from './options.ts'
import { Seats } from './seats.ts'
import { copy, freeze, Numbering, textOf } from './values.ts'
import { wmeModel } from './wme-model.ts'
import { Worlds } from './worlds.ts'

describe('textOf', () => {
  it('is the same for equal values, whatever the order of their keys', () => {
    expect(textOf({ b: [1, null], a: 'x' })).toBe(textOf({ a: 'x', b: [1, null] }))
    expect(textOf({ a: undefined })).toBe(textOf({}))
  })

  it('tells apart what JSON does not', () => {
    expect(textOf([undefined])).not.toBe(textOf([null]))
    expect(textOf(['1'])).not.toBe(textOf([1]))
    expect(textOf([[], 1])).not.toBe(textOf([[1]]))
  })
})

describe('Numbering', () => {
  it('numbers from 0 on and knows what it has numbered', () => {
    const numbering = new Numbering()
    expect(numbering.number('a')).toEqual({ id: 0, isNew: true })
    expect(numbering.number('b')).toEqual({ id: 1, isNew: true })
    expect(numbering.number('a')).toEqual({ id: 0, isNew: false })
  })
})

describe('copy', () => {
  it('shares what is frozen and nothing else', () => {
    const entry = freeze({ sequence: 1, operation: [{ put: 'a' }] })
    const original = { log: [entry], soft: { agreed: [true, false], voters: { 2: 1 } } }
    const copied = copy(original)
    expect(copied).toEqual(original)
    expect(copied.log[0]).toBe(entry)
    copied.log.pop()
    copied.soft.agreed[1] = true
    copied.soft.voters[2] = 7
    expect(original).toEqual({ log: [entry], soft: { agreed: [true, false], voters: { 2: 1 } } })
  })

  /** Walks through worlds. `structuredClone` shares nothing, so it cannot go wrong where `copy` could. */
  it.each([wme1, wme2])('does for states of $name what structuredClone does', protocol => {
    const bound = boundOf({ tries: 1, operations: 1, losses: 0, duplicates: 0 })
    const findings = new Findings()
    const table = new Seats(wmeModel(protocol), bound, findings)
    walk(new Worlds(table, bound, findings), 20_000)
    const { seats } = table
    let compared = 0
    const originals = seats.map(seat => textOf(seat.state))
    for (const seat of seats.filter((_, index) => index % 3 === 0)) {
      const context = table.contexts[seat.participant - 1]!
      for (const { from, message } of table.messages.mails.filter((_, index) => index % 2 === 0)) {
        if (from === seat.participant) continue
        const shared = copy(seat.state)
        const separate = structuredClone(seat.state)
        const effects = stepOrDefect(() =>
          protocol.step(context, shared, { type: 'message', now: 0, from, message }),
        )
        const expected = stepOrDefect(() =>
          protocol.step(context, separate, {
            type: 'message',
            now: 0,
            from,
            message: structuredClone(message),
          }),
        )
        expect(textOf(effects)).toBe(textOf(expected))
        expect(textOf(shared)).toBe(textOf(separate))
        compared++
      }
    }
    expect(compared).toBeGreaterThan(200)
    expect(seats.map(seat => textOf(seat.state))).toEqual(originals)
  })
})

/**
 * A message may meet a state that it never meets in a run: then the core may find a defect, in both copies.
 */
function stepOrDefect(step: () => unknown): unknown {
  try {
    return step()
  } catch (error) {
    return (error as Error).message
  }
}

function walk(worlds: Worlds, most: number): void {
  const everybody = 2 ** worlds.participants - 1
  const waiting = [worlds.initial()]
  const seen = new Set<string>()
  for (let next = 0; next < waiting.length && waiting.length < most; next++) {
    worlds.expand(waiting[next]!, everybody)
    for (let ordinal = 0; ordinal < worlds.count; ordinal++) {
      const world = worlds.successors.slice(ordinal * worlds.width, (ordinal + 1) * worlds.width)
      const key = world.join()
      if (!seen.has(key)) waiting.push(world)
      seen.add(key)
    }
  }
}
