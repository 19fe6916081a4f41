/**
 * The pictures of the documentation are what the code draws, can be read on any page, and are shown
 * somewhere.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PICTURES } from '../../docs/pictures/all.ts'
import { box, widthOf } from '../../docs/pictures/svg.ts'
import { allPages, ROOT } from './markdown.ts'

const FOLDER = join(ROOT, 'docs/pictures')
const names = Object.keys(PICTURES)

interface Placed {
  readonly words: string
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Where the words of a picture stand, in a wide font. */
function wordsOf(svg: string): Placed[] {
  return [...svg.matchAll(/<text ([^>]*)>([^<]*)<\/text>/g)].map(([, attributes, content]) => {
    const attribute = (name: string): string | undefined =>
      new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes!)?.[1]
    const classes = (attribute('class') ?? '').split(' ')
    const words = content!.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
    const has = (name: string) => classes.includes(name)
    const width = widthOf(words, { small: has('small'), strong: has('strong'), code: has('code') })
    const [x, y] = [Number(attribute('x')), Number(attribute('y'))]
    const shift = { start: 0, middle: width / 2, end: width }[attribute('text-anchor') ?? 'start']!
    return { words, left: x - shift, right: x - shift + width, top: y - 10, bottom: y + 3 }
  })
}

function overlaps(svg: string): string[] {
  const words = wordsOf(svg).filter(({ words }) => words !== '')
  return words.flatMap((one, index) =>
    words
      .slice(index + 1)
      .filter(
        other =>
          one.left < other.right &&
          other.left < one.right &&
          one.top < other.bottom &&
          other.top < one.bottom,
      )
      .map(other => `"${one.words}" and "${other.words}"`),
  )
}

function cutOff(svg: string): string[] {
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.map(Number)
  return wordsOf(svg)
    .filter(({ left, right, top, bottom }) => left < 0 || right > width! || top < 0 || bottom > height!)
    .map(({ words }) => words)
}

describe.each(names)('%s', name => {
  const drawn = PICTURES[name]!()

  it('is what the code draws', () => {
    expect(readFileSync(join(FOLDER, name), 'utf8'), 'run: npm run pictures').toBe(drawn)
  })

  it('has colours for a dark page, a title and a description', () => {
    expect(drawn).toContain('prefers-color-scheme: dark')
    expect(drawn).toMatch(/<title>[^<]+<\/title>/)
    expect(drawn).toMatch(/<desc>[^<]+<\/desc>/)
  })

  it('has no words that lie upon each other or are cut off', () => {
    expect(overlaps(drawn)).toEqual([])
    expect(cutOff(drawn)).toEqual([])
  })

  it('is shown on a page', () => {
    expect(allPages().filter(({ text }) => text.includes(`pictures/${name})`))).not.toEqual([])
  })
})

describe('docs/pictures', () => {
  it('has no picture that no code draws', () => {
    expect(existsSync(FOLDER)).toBe(true)
    expect(
      readdirSync(FOLDER)
        .filter(file => file.endsWith('.svg'))
        .sort(),
    ).toEqual([...names].sort())
  })
})

describe('these tests', () => {
  it('find words that lie upon each other', () => {
    const two = '<text x="10" y="20">one thing</text><text x="30" y="24">another</text>'
    expect(overlaps(two)).toEqual(['"one thing" and "another"'])
    expect(overlaps(two.replace('y="24"', 'y="44"'))).toEqual([])
  })

  it('find words that are cut off', () => {
    const picture = '<svg viewBox="0 0 100 40"><text x="60" y="20">much too long</text>'
    expect(cutOff(picture)).toEqual(['much too long'])
  })

  it('find words that do not fit into their box', () => {
    expect(() => box({ x: 0, y: 0, width: 40, height: 40 }, ['much too long'])).toThrow('much too long')
  })
})
