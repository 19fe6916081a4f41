/**
 * The catalogue of mutants: for each trap of the protocol, and each line of its durability table, at least one small edit of the
 * source that takes the correction away. Whoever changes a line that a mutant names changes the mutant, too.
 */
import { durabilityMutants } from './catalogue-durability.ts'
import { livenessMutants } from './catalogue-liveness.ts'
import { lossMutants } from './catalogue-loss.ts'
import { safetyMutants } from './catalogue-safety.ts'

export interface Mutant {
  readonly id: string
  /** The trap that it leads into, like `A4`, the line of the durability table, like `durable: NEWEP`, or the subject, like `fence`. */
  readonly trap: string
  readonly title: string
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Why nobody can notice, if that is so. */
  readonly equivalent?: string
}

export const mutants: Mutant[] = [...safetyMutants, ...livenessMutants, ...lossMutants, ...durabilityMutants]
