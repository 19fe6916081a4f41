/** The faults that a simulation can inject, by the names that the command line knows. */

export const FAULTS = [
  'loss',
  'duplication',
  'reordering',
  'delays',
  'partitions',
  'one-way',
  'pauses',
  'crashes',
  'wipes',
  'suspicions',
  'skew',
  'client-crashes',
  'withdrawals',
  'expiries',
  'operator',
  'mischief',
  'leavers',
] as const

export type Fault = (typeof FAULTS)[number]

const GROUPS: { readonly [group: string]: readonly Fault[] } = {
  all: FAULTS,
  none: [],
  clients: ['client-crashes', 'withdrawals', 'expiries', 'operator', 'mischief'],
  network: ['loss', 'duplication', 'reordering', 'delays', 'partitions', 'one-way'],
  processes: ['pauses', 'crashes', 'wipes', 'suspicions', 'skew', 'leavers'],
}

export const FAULT_GROUPS = Object.keys(GROUPS)

/** `null` for a name that is neither a fault nor a group. */
export function faultsNamed(name: string): readonly Fault[] | null {
  const fault = FAULTS.find(known => known === name)
  if (fault !== undefined) return [fault]
  return Object.hasOwn(GROUPS, name) ? GROUPS[name]! : null
}

/** As short as it can be written on a command line. */
export function describeFaults(faults: readonly Fault[]): string {
  if (faults.length === 0) return 'none'
  return faults.length === FAULTS.length ? 'all' : FAULTS.filter(fault => faults.includes(fault)).join(',')
}
