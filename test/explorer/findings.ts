/** What a search has found: the first violation of an invariant, and which coverage goals were reached. */

export interface Violation {
  readonly property: string
  readonly detail: string
}

export class Findings {
  violation: Violation | null = null
  readonly reached = new Set<string>()

  /** Reports that an invariant does not hold. The first report counts; the search ends with it. */
  violate(property: string, detail: string): void {
    this.violation ??= { property, detail }
  }

  /** Reports that a coverage goal was reached. */
  reach(name: string): void {
    this.reached.add(name)
  }
}
