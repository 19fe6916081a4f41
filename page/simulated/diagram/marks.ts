/** What is drawn on a participant's line: critical sections as bars, and signs for what happened to it. */
import { type Section, sectionsOf } from '../engine/sections.ts'
import type { Glyph, Mark, Tape } from '../engine/tape.ts'
import type { Axes } from './axes.ts'
import type { Frame } from './frame.ts'
import { epochClass } from './lines.ts'
import { round, type Shape, shape } from './shape.ts'

const BAR_HEIGHT = 22
const LETTER_WIDTH = 7
const NARROWEST = 4
/** A long bar says more than once whose it is, so that it is seen wherever the diagram is scrolled to. */
const NAMED_EVERY = 620

/** The bars lie below everything else, and their names above it. */
export function sectionShapes(tape: Tape, axes: Axes, frame: Frame): { bars: Shape[]; names: Shape[] } {
  const sections = sectionsOf(tape, frame.end).filter(({ to }) => to === null || to >= frame.first)
  const bars: Shape[] = []
  const names: Shape[] = []
  for (const section of sections) {
    const x = axes.x(Math.max(section.from, frame.first))
    const width = Math.max(NARROWEST, axes.x(section.to ?? frame.end - 1) - x)
    const y = axes.y(section.participant)
    bars.push(bar(section, x, y, width))
    names.push(...namesOf(section, x, y, width))
    if (section.ending === 'ejected') names.push(sign('ejected', x + width, y))
  }
  return { bars, names }
}

function bar({ participant, user, fence, epoch, to }: Section, x: number, y: number, width: number): Shape {
  const box = { x: round(x), y: y - BAR_HEIGHT / 2, width: round(width), height: BAR_HEIGHT, rx: 4 }
  const title = `${user} is inside at ${participant}, fence ${fence}, epoch ${epoch}`
  const kind = `section ${epochClass(epoch)}${to === null ? ' open' : ''}`
  return shape('g', { class: kind }, shape('title', {}, title), shape('rect', box))
}

function namesOf({ user, fence }: Section, x: number, y: number, width: number): Shape[] {
  const text = width > (user.length + 6) * LETTER_WIDTH ? `${user} · ${fence}` : user
  const names: Shape[] = []
  for (let at = 0; at + text.length * LETTER_WIDTH < width; at += NAMED_EVERY)
    names.push(shape('text', { class: 'inside', x: round(x + at + 6), y: y - BAR_HEIGHT / 2 - 4 }, text))
  return names
}

/** Drawn above the line, with a word; the others on the line itself. */
const WORDS: { readonly [glyph in Glyph]?: (mark: Mark) => string } = {
  epoch: ({ text }) => `epoch ${text.split(' ').at(-1)}`,
  suspects: ({ text }) => `suspects ${text.split(' ').at(-1)}`,
  trusts: ({ text }) => `trusts ${text.split(' ').at(-1)}`,
  operator: () => 'operator',
  members: () => 'members',
  cut: () => 'cut',
  heal: () => 'mended',
}

const SIGNS: { readonly [glyph in Glyph]?: string } = {
  crash: 'm-6 -6l12 12m0 -12l-12 12',
  wipe: 'm-6 -6l12 12m0 -12l-12 12m-6 -9v18',
  start: 'm-4 -6l9 6l-9 6z',
  pause: 'm-3 -7v14m6 -14v14',
  resume: 'm-4 -6l9 6l-9 6z',
  ejected: 'm-5 -5l10 10m0 -10l-10 10',
  try: 'm0 -7l5 7l-5 7l-5 -7z',
  issue: 'm-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z',
  applied: 'm-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z',
  restored: 'm-4 -4h8v8h-8z',
}

function sign(glyph: Glyph, x: number, y: number): Shape {
  return shape('path', { class: `sign ${glyph}`, d: `M${round(x)} ${y}${SIGNS[glyph]}` })
}

export function markShapes(tape: Tape, axes: Axes, { first, end }: Frame): Shape[] {
  const shapes: Shape[] = []
  /** How many words stand one below the other at a place. */
  const lastWord = new Map<number, { readonly x: number; readonly level: number }>()
  for (let moment = first; moment < end; moment++) {
    const x = axes.x(moment)
    for (const mark of tape.moments[moment]!.marks) {
      if (!axes.participants.includes(mark.participant)) continue
      const y = axes.y(mark.participant)
      const title = shape('title', {}, mark.text)
      if (SIGNS[mark.glyph] !== undefined && mark.glyph !== 'ejected')
        shapes.push(shape('g', { class: 'spot' }, title, sign(mark.glyph, x, y)))
      const word = WORDS[mark.glyph]
      if (word === undefined) continue
      const before = lastWord.get(mark.participant)
      const level = before !== undefined && x - before.x < 62 ? (before.level + 1) % 2 : 0
      lastWord.set(mark.participant, { x, level })
      const place = { class: `word ${mark.glyph}`, x: round(x + 3), y: y + 18 + level * 10 }
      const tick = {
        class: `tick ${mark.glyph}`,
        x1: round(x),
        x2: round(x),
        y1: y + 4,
        y2: y + 18 + level * 10,
      }
      shapes.push(shape('g', { class: 'spot' }, title, shape('line', tick), shape('text', place, word(mark))))
    }
  }
  return shapes
}
