/** The space-time diagram: what is drawn, and the file that it can be saved as. */
import { describe, expect, it } from 'vitest'
import { diagramOf } from '../../../page/simulated/diagram/diagram.ts'
import { diagramFile, MAX_EXPORTED } from '../../../page/simulated/diagram/file.ts'
import type { Shape } from '../../../page/simulated/diagram/shape.ts'
import { Run } from '../../../page/simulated/engine/run.ts'
import type { Tape } from '../../../page/simulated/engine/tape.ts'
import { historyTape } from '../../../page/simulated/recordings/history-tape.ts'
import { SCENARIOS, scenarioNamed } from '../../../page/simulated/scenarios/all.ts'
import { prepare } from '../../../page/simulated/scenarios/stage.ts'

function tapeOf(name: string): Tape {
  const { setup, actions, length } = prepare(scenarioNamed(name)!)
  const run = new Run(setup, actions)
  run.extendTo(length)
  return run.tape
}

const wholeOf = (tape: Tape, position = tape.moments.length) =>
  diagramOf(tape, { first: 0, end: tape.moments.length, position })

const ofClass = (shapes: readonly Shape[], ...words: string[]): Shape[] =>
  shapes.filter(({ attributes }) => {
    const classes = String(attributes.class ?? '').split(' ')
    return words.every(word => classes.includes(word))
  })

describe('the diagram', () => {
  it('has an arrow for each message, and a cross where one was lost', () => {
    const tape = tapeOf('false-suspicion')
    const { shapes } = wholeOf(tape)
    expect(ofClass(shapes, 'message')).toHaveLength(tape.messages.length)
    const lost = tape.messages.filter(({ arrivesAt }) => arrivesAt === null)
    expect(lost.length).toBeGreaterThan(0)
    expect(ofClass(shapes, 'message', 'lost')).toHaveLength(lost.length)
  })

  it('has a line for each participant, in the colour of its epoch', () => {
    const { shapes, labels } = wholeOf(tapeOf('owner-dies'))
    expect(labels.filter(({ tag }) => tag === 'text')).toHaveLength(3)
    expect(new Set(ofClass(shapes, 'life').map(({ attributes }) => attributes.y1)).size).toBe(3)
    expect(ofClass(shapes, 'life', 'epoch-0').length).toBeGreaterThanOrEqual(3)
    expect(ofClass(shapes, 'life', 'epoch-1').length).toBeGreaterThanOrEqual(3)
    expect(ofClass(shapes, 'life', 'down')).toHaveLength(1)
  })

  it('shows two tokens at once as two thick lines above each other', () => {
    const thick = ofClass(wholeOf(tapeOf('two-tokens')).shapes, 'life', 'owner')
    const overlaps = thick.some(one =>
      thick.some(
        other =>
          one.attributes.y1 !== other.attributes.y1 &&
          Number(one.attributes.x1) < Number(other.attributes.x2) &&
          Number(other.attributes.x1) < Number(one.attributes.x2),
      ),
    )
    expect(overlaps).toBe(true)
  })

  it('has a bar for each critical section', () => {
    expect(ofClass(wholeOf(tapeOf('maekawa-deadlock')).shapes, 'section')).toHaveLength(3)
  })

  it('veils what is still to come', () => {
    const tape = tapeOf('nice-run')
    expect(ofClass(wholeOf(tape).shapes, 'veil')).toEqual([])
    const { shapes, width, left } = wholeOf(tape, 5)
    const [veil] = ofClass(shapes, 'veil')
    const [cursor] = ofClass(shapes, 'cursor')
    expect(veil!.attributes.x).toBe(cursor!.attributes.x1)
    expect(Number(veil!.attributes.x) + Number(veil!.attributes.width)).toBeCloseTo(left + width, -1)
  })

  it('names messages along their arrows where there is room, and no two names cover each other', () => {
    const { shapes } = wholeOf(tapeOf('two-tokens'))
    const names = ofClass(shapes, 'message')
      .flatMap(({ children = [] }) => children)
      .filter((child): child is Shape => typeof child !== 'string' && child.attributes.class === 'name')
    expect(names.length).toBeGreaterThan(20)
    expect(new Set(names.map(({ attributes }) => attributes.transform)).size).toBe(names.length)
  })

  it('goes to the right with time, and never back', () => {
    const places = ofClass(wholeOf(tapeOf('two-tokens')).shapes, 'message')
      .flatMap(({ children = [] }) => children)
      .filter((child): child is Shape => typeof child !== 'string' && child.tag === 'line')
    for (const { attributes } of places) expect(Number(attributes.x2)).toBeGreaterThan(Number(attributes.x1))
  })

  it.each(SCENARIOS.map(({ name }) => name))('of %s is a whole file, without a script', name => {
    const tape = tapeOf(name)
    const file = diagramFile(tape, tape.moments.length)
    expect(file).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="\d+" height="\d+"/)
    expect(file.trimEnd()).toMatch(/<\/svg>$/)
    expect(file).not.toMatch(/NaN|undefined|Infinity|<script/)
    for (const tag of ['g', 'text', 'title'])
      expect(file.split(`<${tag}`).length, tag).toBeGreaterThanOrEqual(file.split(`</${tag}>`).length)
  })

  it('of a history writes foreign names as text', () => {
    const header = {
      format: 1,
      protocol: 'maekawa',
      participants: 1,
      resource: 'kv',
      resultsKept: 1,
    } as const
    const user = '<script>&"'
    const events = [{ at: 1, type: 'crit', user, participant: 1, fence: 1, epoch: 0 }] as const
    const tape = historyTape({ header, events })
    const file = diagramFile(tape, tape.moments.length)
    expect(file).toContain('&lt;script&gt;&amp;&quot;')
    expect(file).not.toContain('<script>')
  })

  it('of a long run is cut at the left', () => {
    const run = new Run({ protocol: 'maekawa', participants: 3, seed: 1, ttlMs: 3_600_000 })
    run.withAction(1, { type: 'commute', participant: 1 })
    run.withAction(2, { type: 'commute', participant: 2 })
    run.extendTo(MAX_EXPORTED * 2)
    const all = run.tape.messages.length
    expect(diagramFile(run.tape, run.length).split('class="message').length).toBeLessThan(all)
  })
})
