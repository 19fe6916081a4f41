/** Why a lock was not granted, in words. */

export interface KnownHolder {
  readonly participant: number
  readonly expiresAt: string
  readonly owner?: string | undefined
}

export function lockedDetail(holder: KnownHolder | null): string {
  if (holder === null)
    return 'The lock was not granted in time: it is held, or asked for, at another participant.'
  const { participant, expiresAt, owner } = holder
  const by = owner === undefined ? '' : ` by ${owner}`
  const where = `at participant ${participant} until ${expiresAt}, unless it is kept alive`
  return `The lock was not granted in time: it is held${by} ${where}.`
}
