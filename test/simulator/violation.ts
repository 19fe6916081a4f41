/**
 * How a run fails. Checks throw one of these; anything else that is thrown during a run is a defect of the
 * code that ran.
 */

export type VerdictKind =
  | 'ok'
  /** An invariant, or a safety property of the history, does not hold. */
  | 'safety'
  /** Progress or silence was owed and did not come. */
  | 'liveness'
  /** The code under test threw, or did not end. */
  | 'defect'

export class Violation extends Error {
  readonly kind: Exclude<VerdictKind, 'ok'>
  /** `I5`, `WME2`, `progress`, ... */
  readonly rule: string

  constructor(kind: Exclude<VerdictKind, 'ok'>, rule: string, message: string) {
    super(message)
    this.kind = kind
    this.rule = rule
  }
}

export function violate(rule: string, message: string): never {
  throw new Violation('safety', rule, message)
}
