/**
 * Whether a lock exists, asked without voting: nothing is promised, accepted or stored by looking.
 *
 * A lock that was used or configured, and whose user was told so, is known to one of those that are asked
 * here. Either the first owner began it alone: then the first owner knows. Or a majority of the registrars
 * accepted a value in another ballot: then every majority has a registrar that knows. So nothing less than
 * the first owner and a majority can say that there is no such lock, and only those count that have forgotten
 * nothing (G1), in the present lives of their processes (G8).
 */
import type { ParticipantId } from '../protocols/protocol.ts'
import { majority } from '../protocols/quorum.ts'
import type { BirthRecord, LockContext } from './lock-types.ts'
import type { Incarnations } from './messages.ts'
import { validVotes } from './register.ts'
import { firstOwnerOf } from './value.ts'

/** What one participant knows of it. */
export interface Sight {
  readonly generation: number
  /** It has accepted a value in this generation, or knows which one was chosen. */
  readonly isBorn: boolean
  /** It has forgotten nothing: what it does not know of has not happened to it. */
  readonly isSure: boolean
  readonly incarnation: number
  readonly known: Incarnations
}

/** What the ledger of a process says to a participant in it that is blank. */
export type LedgerSight = Pick<Sight, 'isSure' | 'incarnation' | 'known'>

export type Existence = 'exists' | 'absent' | 'unknown'

/** `null`: only the ledger can say whether this participant has forgotten anything. */
export function sightOf({ hasLedger }: Pick<LockContext, 'hasLedger'>, birth: BirthRecord): Sight | null {
  const { generation, standing, incarnation, known } = birth
  const isBorn = isBornIn(birth)
  const isUnclear = hasLedger && (standing.status === 'unknown' || standing.status === 'fresh')
  if (isUnclear && !isBorn) return null
  return { generation, isBorn, isSure: !hasLedger || standing.status === 'entitled', incarnation, known }
}

/** Whoever was told anything by the lock was told so after a participant had stored this. */
export const isBornIn = ({ chosen, accepted }: BirthRecord): boolean => chosen !== null || accepted !== null

/** `sights` are those of registrars. Any part of them will do, if it says anything at all. */
export function existenceOf(
  { lock, registrars }: { readonly lock: string; readonly registrars: number },
  sights: ReadonlyMap<ParticipantId, Sight>,
): Existence {
  if (sights.size < majority(registrars)) return 'unknown'
  const present = Math.max(...[...sights.values()].map(({ generation }) => generation))
  const isBorn = ({ generation, isBorn }: Sight) => isBorn && generation === present
  if ([...sights.values()].some(isBorn)) return 'exists'
  const sure = new Map([...sights].filter(([, { isSure }]) => isSure))
  const voters = validVotes(sure)
  const isFirstSure = voters.includes(firstOwnerOf(lock, registrars))
  return isFirstSure && voters.length >= majority(registrars) ? 'absent' : 'unknown'
}
