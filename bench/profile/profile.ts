/** What the samples of V8's profiler say about each function. */

export interface ProfileNode {
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

/** The microseconds that were spent in each node itself. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): Map<ProfileNode, number> {
  const times = new Map(nodes.map(node => [node, 0]))
  const byId = new Map(nodes.map(node => [node.id, node]))
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id)!
    times.set(node, times.get(node)! + timeDeltas[index]!)
  }
  return times
}

/** In microseconds for one of so many repeats. A function that calls itself counts once. */
export function timesOf(profile: CpuProfile, repeats: number): FunctionTime[] {
  const { nodes } = profile
  const byId = new Map(nodes.map(node => [node.id, node]))
  const selfOf = selfTimes(profile)
  const times = new Map<string, { self: number; total: number }>()
  const visit = (node: ProfileNode, outer: ReadonlySet<string>): number => {
    const name = nameOf(node)
    const time = times.get(name) ?? { self: 0, total: 0 }
    times.set(name, time)
    const own = selfOf.get(node)!
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
