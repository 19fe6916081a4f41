/** Which of two requests comes first (section 4, step 2): by sequence number, then by node number. */
import type { ParticipantId } from '../protocol.ts'

export interface Request {
  readonly node: ParticipantId
  readonly sequence: number
}

export const compareRequests = (a: Request, b: Request): number => a.sequence - b.sequence || a.node - b.node

export const precedes = (a: Request, b: Request): boolean => compareRequests(a, b) < 0

/** A node never uses a sequence number twice. */
export const isSame = (a: Request, b: Request): boolean => compareRequests(a, b) === 0
