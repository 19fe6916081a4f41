/** Counters with fixed names: all at zero, and those of many runs added up. */
export function zeroOf<Name extends string>(names: readonly Name[]): { [name in Name]: number } {
  return Object.fromEntries(names.map(name => [name, 0])) as { [name in Name]: number }
}

export function addTo<Name extends string>(
  total: { [name in Name]: number },
  counts: { readonly [name in Name]: number },
): void {
  for (const name of Object.keys(total) as Name[]) total[name] += counts[name]
}
