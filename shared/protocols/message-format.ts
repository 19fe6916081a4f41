/**
 * In which format a message is written, whichever protocol it is of. One that says who the members are, or
 * are to be, is in a format that versions refuse which know nothing of changes of members: if they took it
 * for one of their own, they would go on counting the old members.
 */
import { MEMBERS_FORMAT, MESSAGE_FORMAT } from './protocol.ts'

interface MayHaveSet {
  readonly set?: unknown
}

interface MayBeOfMembers {
  readonly kind?: string
}

/** The fields in which the protocols say it. */
export interface AnyMessage extends MayHaveSet {
  readonly change?: unknown
  /** What is decided at the end of an epoch (wme). */
  readonly value?: MayHaveSet
  readonly accepted?: { readonly value?: MayHaveSet } | null
  /** The end of a snapshot. */
  readonly point?: MayHaveSet | null
  /** Ricart and Agrawala. */
  readonly group?: MayHaveSet
  /** Commands of a log (wme-consensus). */
  readonly commands?: readonly MayBeOfMembers[]
  readonly entries?: readonly { readonly command?: MayBeOfMembers }[]
}

export const formatOf = (message: AnyMessage): number =>
  isAboutMembers(message) ? MEMBERS_FORMAT : MESSAGE_FORMAT

function isAboutMembers({ set, change, value, accepted, point, group, commands, entries }: AnyMessage) {
  return (
    [set, change, value?.set, accepted?.value?.set, point?.set, group?.set].some(one => one !== undefined) ||
    commands?.some(isOfMembers) === true ||
    entries?.some(({ command }) => command !== undefined && isOfMembers(command)) === true
  )
}

const isOfMembers = ({ kind }: MayBeOfMembers): boolean => kind === 'members'
