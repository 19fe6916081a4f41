/** Why a lock was not granted, or not deleted, in words. */

export interface KnownHolder {
  readonly participant: number
  readonly expiresAt: string
  readonly owner?: string | undefined
}

export const lockedDetail = (holder: KnownHolder | null): string =>
  `The lock was not granted in time: ${whereHeld(holder)}.`

export const notDeletedDetail = (holder: KnownHolder | null): string =>
  `The lock was not deleted: ${whereHeld(holder)}. With \`?force=true\` whoever holds it is ejected first.`

/** Of a deletion that was forced: those that wait come in one after the other. */
export const notDeletedByForceDetail = (holder: KnownHolder | null): string =>
  `The lock was not deleted: ${whereHeld(holder)}. ` +
  'Whoever held it was ejected, but each time somebody else came next. Ask again.'

function whereHeld(holder: KnownHolder | null): string {
  if (holder === null) return 'it is held, or asked for, at another participant'
  const { participant, expiresAt, owner } = holder
  const by = owner === undefined ? '' : ` by ${owner}`
  return `it is held${by} at participant ${participant} until ${expiresAt}, unless it is kept alive`
}
