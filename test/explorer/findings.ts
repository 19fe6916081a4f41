/** What a search has found: the first violation, and which of the *sometimes* properties were reached. */

export interface Violation {
  readonly property: string
  readonly detail: string
}

export class Findings {
  violation: Violation | null = null
  readonly reached = new Set<string>()

  /** *always*: reports that a property does not hold. The first report counts; the search ends with it. */
  violate(property: string, detail: string): void {
    this.violation ??= { property, detail }
  }

  /** *sometimes*: reports that this has happened. */
  reach(name: string): void {
    this.reached.add(name)
  }
}
