/**
 * A small kit for the pictures of the documentation: boxes, lines with arrowheads and text, as SVG.
 *
 * A picture has a background of its own and two sets of colours, so that it can be read on a light page and
 * on a dark one. Text that would not fit into its box is a mistake that the kit throws, not one that a reader
 * finds.
 */

export type Tone = 'plain' | 'quiet' | 'accent' | 'good' | 'bad'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Rectangle extends Point {
  readonly width: number
  readonly height: number
}

export const FONT_SIZE = 14
const LINE_HEIGHT = 19
const SMALL = 12.5
const PADDING = 8

const STYLE = `
  .page { fill: #ffffff; stroke: #d1d9e0 }
  text { fill: #1f2328; font: ${FONT_SIZE}px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif }
  .small { font-size: ${SMALL}px }
  .strong { font-weight: 600 }
  .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: ${SMALL}px }
  text.quiet { fill: #59636e }
  text.good { fill: #116329 }
  text.bad { fill: #b31d28 }
  text.accent { fill: #8a4600 }
  rect.plain { fill: #f6f8fa; stroke: #8c959f }
  rect.quiet { fill: #ffffff; stroke: #b7bfc7; stroke-dasharray: 5 4 }
  rect.accent { fill: #fff1dc; stroke: #d98c4a }
  rect.good { fill: #e3f7e6; stroke: #2da44e }
  rect.bad { fill: #ffebe9; stroke: #cf5b5b }
  path { fill: none; stroke: #59636e; stroke-width: 1.5 }
  path.head { stroke: none; fill: #59636e }
  path.quiet { stroke: #b7bfc7 }
  path.accent { stroke: #c06f1f } path.head.accent { stroke: none; fill: #c06f1f }
  path.good { stroke: #2da44e } path.head.good { stroke: none; fill: #2da44e }
  path.bad { stroke: #cf222e } path.head.bad { stroke: none; fill: #cf222e }
  path.dashed { stroke-dasharray: 5 4 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3 }
    text.quiet { fill: #9198a1 }
    text.good { fill: #5fd17a }
    text.bad { fill: #ff8f86 }
    text.accent { fill: #f0b072 }
    rect.plain { fill: #1b222b; stroke: #6e7781 }
    rect.quiet { fill: #0d1117; stroke: #4a525c }
    rect.accent { fill: #3d2a12; stroke: #d98c4a }
    rect.good { fill: #12301b; stroke: #3fb950 }
    rect.bad { fill: #3c1618; stroke: #e5534b }
    path { stroke: #9198a1 } path.head { fill: #9198a1 }
    path.quiet { stroke: #4a525c }
    path.accent { stroke: #e0a15c } path.head.accent { fill: #e0a15c }
    path.good { stroke: #3fb950 } path.head.good { fill: #3fb950 }
    path.bad { stroke: #f85149 } path.head.bad { fill: #f85149 }
  }`

/** A whole picture. `title` is what a screen reader says, and `description` is what it says next. */
export function picture(
  size: { readonly width: number; readonly height: number },
  about: { readonly title: string; readonly description: string },
  parts: readonly string[],
): string {
  const { width, height } = size
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(about.title)}</title>
<desc>${escaped(about.description)}</desc>
<style>${STYLE}
</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${parts.join('\n')}
</svg>
`
}

// ---------------------------------------------------------------- text

export interface TextStyle {
  readonly tone?: Tone
  readonly small?: boolean
  readonly strong?: boolean
  readonly code?: boolean
  readonly anchor?: 'start' | 'middle' | 'end'
}

export function text(at: Point, content: string, style: TextStyle = {}): string {
  const { tone, small = false, strong = false, code = false, anchor = 'start' } = style
  const classes = [tone, small && 'small', strong && 'strong', code && 'code'].filter(Boolean).join(' ')
  const attributes = [
    `x="${round(at.x)}" y="${round(at.y)}"`,
    classes === '' ? '' : ` class="${classes}"`,
    anchor === 'start' ? '' : ` text-anchor="${anchor}"`,
  ]
  return `<text ${attributes.join('')}>${escaped(content)}</text>`
}

/** Several lines, the first one at `at`. */
export const lines = (at: Point, contents: readonly string[], style: TextStyle = {}): string =>
  contents
    .map((content, index) => text({ x: at.x, y: at.y + index * LINE_HEIGHT }, content, style))
    .join('\n')

/** How wide a text is in a wide font; in a narrower one there is more room. */
export function widthOf(
  content: string,
  { small = false, strong = false, code = false }: TextStyle = {},
): number {
  const size = small || code ? SMALL : FONT_SIZE
  const ems = code ? 0.61 * content.length : [...content].reduce((sum, letter) => sum + emsOf(letter), 0)
  return ems * size * (strong ? 1.08 : 1)
}

function emsOf(letter: string): number {
  if (/[ilj.,:;'|!()[\] ftr-]/.test(letter)) return 0.37
  if (/[mwMW→…]/.test(letter)) return 0.95
  return /[A-Z]/.test(letter) ? 0.7 : 0.6
}

const escaped = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

// ---------------------------------------------------------------- shapes

export interface BoxOptions {
  readonly tone?: Tone
  /** The first line is set in bold. */
  readonly titled?: boolean
  readonly small?: boolean
  /** Where the text stands: in the middle of the box, or at its top. */
  readonly align?: 'middle' | 'top'
}

/** A box with centred lines of text. */
export function box(area: Rectangle, contents: readonly string[], options: BoxOptions = {}): string {
  const { tone = 'plain', titled = false, small = false, align = 'middle' } = options
  const styleOf = (index: number): TextStyle => ({
    small,
    strong: titled && index === 0,
    anchor: 'middle',
    ...(tone === 'quiet' && !(titled && index === 0) ? { tone } : {}),
  })
  for (const [index, content] of contents.entries()) {
    const wide = widthOf(content, styleOf(index)) + 2 * PADDING
    if (wide > area.width)
      throw new Error(`"${content}" needs ${Math.ceil(wide)} px, its box has ${area.width}`)
  }
  const high = contents.length * LINE_HEIGHT
  if (high > area.height) throw new Error(`${contents.length} lines need ${high} px, "${contents[0]}"`)
  const top = align === 'top' ? area.y + PADDING : area.y + (area.height - high) / 2
  const middle = area.x + area.width / 2
  return [
    `<rect class="${tone}" x="${round(area.x)}" y="${round(area.y)}" width="${round(area.width)}" height="${round(area.height)}" rx="6"/>`,
    ...contents.map((content, index) =>
      text({ x: middle, y: top + LINE_HEIGHT * index + 14 }, content, styleOf(index)),
    ),
  ].join('\n')
}

export interface LineOptions {
  readonly tone?: Tone
  readonly dashed?: boolean
  /** An arrowhead at the end; `both` has one at the start too. */
  readonly head?: 'none' | 'end' | 'both'
}

/** A line through these points. */
export function line(points: readonly Point[], options: LineOptions = {}): string {
  const { tone, dashed = false, head = 'end' } = options
  const classes = [tone === 'plain' ? undefined : tone, dashed && 'dashed'].filter(Boolean).join(' ')
  const way = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join(' ')
  const drawn = [`<path${classes === '' ? '' : ` class="${classes}"`} d="${way}"/>`]
  if (head !== 'none') drawn.push(arrowhead(points.at(-2)!, points.at(-1)!, tone))
  if (head === 'both') drawn.push(arrowhead(points[1]!, points[0]!, tone))
  return drawn.join('\n')
}

const HEAD_LENGTH = 9
const HEAD_WIDTH = 4.5

function arrowhead(from: Point, to: Point, tone: Tone | undefined): string {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const [dx, dy] = [(to.x - from.x) / length, (to.y - from.y) / length]
  const back = { x: to.x - dx * HEAD_LENGTH, y: to.y - dy * HEAD_LENGTH }
  const corner = (side: number): string =>
    `${round(back.x - dy * HEAD_WIDTH * side)} ${round(back.y + dx * HEAD_WIDTH * side)}`
  const classes = tone === undefined || tone === 'plain' ? 'head' : `head ${tone}`
  return `<path class="${classes}" d="M${round(to.x)} ${round(to.y)} L${corner(1)} L${corner(-1)} Z"/>`
}

/** A circle with a number in it, to refer to from the text. */
export const step = (at: Point, number: number): string =>
  [
    `<rect class="accent" x="${round(at.x - 9)}" y="${round(at.y - 9)}" width="18" height="18" rx="9"/>`,
    text({ x: at.x, y: at.y + 4.5 }, String(number), { small: true, strong: true, anchor: 'middle' }),
  ].join('\n')

const round = (value: number): number => Math.round(value * 10) / 10
