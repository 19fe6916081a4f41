/** The part of a tape that a diagram shows. */
export interface Frame {
  /** The first moment that is drawn. */
  readonly first: number
  /** The number after the last one. */
  readonly end: number
  /** How many moments have happened as far as the reader has come: what is later is veiled. */
  readonly position: number
}
