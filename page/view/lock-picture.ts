/**
 * What the page draws of one lock, whether a service told it (page/live) or the protocol runs in the browser
 * (page/simulated). Times are milliseconds of whichever clock drives the picture.
 */
export interface LockPicture {
  readonly lock: string
  readonly protocol: string
  readonly now: number
  readonly participants: readonly ParticipantPicture[]
  /** Between two participants while it moves; at none while nobody is known to own it. */
  readonly token: TokenPicture | null
  readonly holder: HolderPicture | null
  readonly waiting: readonly WaitingPicture[]
  /** What the lock waits for, in words. */
  readonly explanation: string
  readonly state: readonly CellPicture[]
  /** Newest last. */
  readonly news: readonly NewsPicture[]
  /** On their way; a service does not tell, so the live page has none. */
  readonly messages: readonly MessagePicture[]
}

export interface ParticipantPicture {
  readonly id: number
  readonly location: string | null
  readonly condition: 'up' | 'silent' | 'down'
  /** The state of Figure 3, or that of the protocol's own. */
  readonly phase: string
  readonly epoch: number
  /** How far its log has come. */
  readonly sequence: number
  readonly queue: number
  readonly suspects: readonly number[]
}

export interface TokenPicture {
  readonly at: number
  readonly from: number | null
}

export interface HolderPicture {
  readonly participant: number
  readonly fence: number
  readonly owner: string | null
  readonly since: number | null
  readonly expiresAt: number | null
}

export interface WaitingPicture {
  readonly participant: number
  readonly number: number
  readonly since: number | null
}

export interface CellPicture {
  readonly key: string
  readonly value: unknown
  readonly revision: number
}

export interface NewsPicture {
  readonly at: number
  readonly kind: 'grant' | 'operation' | 'release' | 'ejection' | 'epoch' | 'suspicion' | 'fault' | 'members'
  readonly text: string
}

export interface MessagePicture {
  readonly id: number
  readonly from: number
  readonly to: number
  readonly type: string
  /** From 0 when it leaves to 1 when it arrives. */
  readonly progress: number
}
