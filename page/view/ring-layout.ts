/** Where the participants of a lock stand on the ring, for a drawing of a given width. */

export interface Point {
  readonly x: number
  readonly y: number
}

export interface RingLayout {
  readonly width: number
  readonly height: number
  readonly centre: Point
  readonly radii: Point
  /** Of the circle of a participant. */
  readonly radius: number
  /** One for each participant, in their order: the first is on top, and they go on clockwise. */
  readonly places: readonly Point[]
  /** Whether there is room for the long names of regions. */
  readonly isRoomy: boolean
}

const NARROW = 480
const LABEL_HEIGHT = 48
const MARGIN = 12

export function layOut(count: number, width: number): RingLayout {
  const isNarrow = width < NARROW
  const isRoomy = !isNarrow && count <= 5
  const radius = count > 8 ? 18 : isNarrow ? 22 : 26
  const halfLabel = isRoomy ? 76 : 40
  const radii = {
    x: Math.max(0, Math.min(width / 2 - halfLabel, 270)),
    y: (isNarrow ? 100 : 118) + Math.max(0, count - 4) * (isNarrow ? 13 : 9),
  }
  const centre = { x: width / 2, y: radius + MARGIN + (count === 1 ? 0 : radii.y) }
  const places = Array.from({ length: count }, (_, index) => {
    if (count === 1) return centre
    const angle = (index / count) * 2 * Math.PI - Math.PI / 2
    return { x: centre.x + radii.x * Math.cos(angle), y: centre.y + radii.y * Math.sin(angle) }
  })
  const lowest = Math.max(...places.map(({ y }) => y)) + radius + LABEL_HEIGHT
  const height = count === 1 ? lowest : Math.max(lowest, centre.y + radii.y + MARGIN)
  return { width, height, centre, radii, radius, places, isRoomy }
}

export function between(from: Point, to: Point, part: number): Point {
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}

/** The line between two circles, from the edge of one to the edge of the other. */
export function edgeToEdge(from: Point, to: Point, radius: number): readonly [Point, Point] {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1
  const part = Math.min(0.45, (radius + 4) / length)
  return [between(from, to, part), between(from, to, 1 - part)]
}

/** Where the token lies at a participant: on the rim of its circle, away from its name. */
export function tokenPlace({ radius }: RingLayout, { x, y }: Point): Point {
  return { x: x + radius * 0.85, y: y - radius * 0.75 }
}
