/**
 * What is measured. A case is a kind of work that can be repeated, and a subject is something that can do it:
 * Baton in one of its forms, the plain object, another lock service. Subjects that do the same work name the
 * case the same.
 */
export const CASES = [
  'acquire and release',
  'acquire and release, token elsewhere',
  'one operation',
  'acquire, operation, release',
  'transact',
  '10 clients at one participant',
  '10 clients at all participants',
  '50 clients on 100 locks',
  'first use of a lock',
  'session: acquire and release',
  'session: one operation',
  'session: acquire, operation, release',
  'session: transact',
  'session: 10 clients',
] as const

export type CaseName = (typeof CASES)[number]

/** What the plain object does for the same purpose, where that is not the same. */
const YARDSTICKS: { readonly [name in CaseName]?: CaseName } = {
  'acquire and release, token elsewhere': 'acquire and release',
  transact: 'acquire, operation, release',
  'session: transact': 'session: acquire, operation, release',
  '10 clients at all participants': '10 clients at one participant',
}

export const yardstickOf = (name: CaseName): CaseName => YARDSTICKS[name] ?? name

export interface Case {
  prepare?(): Promise<unknown>
  /** Does the work this often, and tells how many milliseconds each time took. */
  run(repeats: number): Promise<readonly number[]>
  finish?(): Promise<unknown>
  /** How many requests the participants have sent each other so far. */
  requests?(): Promise<number>
}

export interface Subject {
  readonly name: string
  readonly participants: number
  /** One process for everything, or one for each participant. */
  readonly processes: 'one' | 'each'
  /** Their ids, with the router's, as they are now. */
  pids(): readonly number[]
  readonly cases: { readonly [name in CaseName]?: Case }
}

/** One after the other. */
export const inTurn =
  (work: () => Promise<unknown>): Case['run'] =>
  async repeats => {
    const samples: number[] = []
    for (let count = 0; count < repeats; count++) samples.push(await timeOf(work))
    return samples
  }

/** What takes long is repeated less often. */
export const lessOften =
  (share: number, run: Case['run']): Case['run'] =>
  repeats =>
    run(Math.ceil(repeats * share))

/** So many clients at once, each of which works this often. */
export const together =
  (clients: number, work: (client: number) => Promise<unknown>): Case['run'] =>
  async repeats => {
    const each = Array.from({ length: clients }, (_, client) => inTurn(() => work(client))(repeats))
    return (await Promise.all(each)).flat()
  }

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** The same locks in the same random order for every subject. */
export function randomLocks(locks: number): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state % locks
  }
}
