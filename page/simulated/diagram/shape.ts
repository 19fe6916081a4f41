/** A piece of an SVG picture, to be shown on the page or written to a file. */
export interface Shape {
  readonly tag: 'g' | 'line' | 'rect' | 'path' | 'circle' | 'text' | 'title'
  readonly attributes: { readonly [name: string]: string | number }
  readonly children?: readonly (Shape | string)[]
}

export const shape = (
  tag: Shape['tag'],
  attributes: Shape['attributes'],
  ...children: readonly (Shape | string)[]
): Shape => ({ tag, attributes, children })

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

export const escapeText = (text: string): string =>
  text.replaceAll(/[&<>"]/g, character => ESCAPES[character]!)

export function shapeText({ tag, attributes, children = [] }: Shape): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeText(String(value))}"`)
  const inner = children.map(child => (typeof child === 'string' ? escapeText(child) : shapeText(child)))
  return `<${tag}${written.join('')}>${inner.join('')}</${tag}>`
}

/** Coordinates with one digit after the point: more cannot be seen. */
export const round = (value: number): number => Math.round(value * 10) / 10
