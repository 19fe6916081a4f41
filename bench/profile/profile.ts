/** What the samples of V8's profiler say about each function. */

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}

/** As the inspector's `Profiler.stop` gives it; times are in microseconds. */
export interface CpuProfile {
  /** The root is the first. */
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export interface FunctionTime {
  /** With its line in the bundle; what is not JavaScript has the line 0. */
  readonly name: string
  readonly self: number
  readonly total: number
}

/** In microseconds for one of so many repeats. A function that calls itself counts once. */
export function timesOf({ nodes, samples, timeDeltas }: CpuProfile, repeats: number): FunctionTime[] {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const selfOf = new Map<number, number>()
  for (const [index, id] of samples.entries()) selfOf.set(id, (selfOf.get(id) ?? 0) + timeDeltas[index]!)
  const times = new Map<string, { self: number; total: number }>()
  const visit = (node: ProfileNode, outer: ReadonlySet<string>): number => {
    const name = nameOf(node)
    const time = times.get(name) ?? { self: 0, total: 0 }
    times.set(name, time)
    const own = selfOf.get(node.id) ?? 0
    const inner = new Set(outer).add(name)
    let all = own
    for (const child of node.children ?? []) all += visit(byId.get(child)!, inner)
    time.self += own / repeats
    if (!outer.has(name)) time.total += all / repeats
    return all
  }
  if (nodes[0] !== undefined) visit(nodes[0], new Set())
  return Array.from(times, ([name, time]) => ({ name, ...time }))
}

const nameOf = ({ callFrame: { functionName, lineNumber } }: ProfileNode): string =>
  `${functionName || '(anonymous)'}:${lineNumber + 1}`
