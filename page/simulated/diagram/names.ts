/** The names of messages along their arrows, as far as there is room for them. */
import { round, type Shape, shape } from './shape.ts'

const LETTER_WIDTH = 5.2
const HEIGHT = 10
/** Where on its arrow a name stands, from the tail on. */
const PLACES = [0.5, 0.34, 0.66]

interface Box {
  readonly x: number
  readonly y: number
  readonly halfWidth: number
  readonly halfHeight: number
}

export class Names {
  readonly #taken: Box[] = []

  /** `null` if it would cover another name. */
  place(name: string, x1: number, y1: number, x2: number, y2: number): Shape | null {
    const angle = Math.atan2(y2 - y1, x2 - x1)
    const length = name.length * LETTER_WIDTH
    if (Math.hypot(x2 - x1, y2 - y1) < length * 0.9) return null
    const halfWidth = (Math.abs(Math.cos(angle)) * length + Math.abs(Math.sin(angle)) * HEIGHT) / 2
    const halfHeight = (Math.abs(Math.sin(angle)) * length + Math.abs(Math.cos(angle)) * HEIGHT) / 2
    for (const place of PLACES) {
      const box = { x: x1 + (x2 - x1) * place, y: y1 + (y2 - y1) * place, halfWidth, halfHeight }
      if (this.#taken.some(other => doOverlap(box, other))) continue
      this.#taken.push(box)
      const turn = `translate(${round(box.x)} ${round(box.y)}) rotate(${round((angle * 180) / Math.PI)})`
      return shape('text', { class: 'name', transform: turn, y: -3 }, name)
    }
    return null
  }
}

const doOverlap = (one: Box, other: Box): boolean =>
  Math.abs(one.x - other.x) < one.halfWidth + other.halfWidth &&
  Math.abs(one.y - other.y) < one.halfHeight + other.halfHeight
