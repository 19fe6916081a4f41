/** What clients do, and how long each call takes them. */
import { Random } from '../../test/simulator/random.ts'
import type { Place } from './places.ts'
import type { Service } from './service.ts'
import type { World } from './world.ts'

export const KINDS_OF_WORK = {
  local: 'One place works for a while, call after call, with a second in between. Then another place does.',
  moving:
    'Each call comes from another place than the one before it, a second later. Nobody else wants the lock.',
  contended:
    'A client in each place calls again as soon as it is answered, so everybody waits for everybody.',
} as const

export type Work = keyof typeof KINDS_OF_WORK
export type Action = 'acquire' | 'transact'

const PAUSE_MS = 1_000

export interface Measured {
  /** Milliseconds from call to answer, as the client sees it, in order. */
  readonly latencies: readonly number[]
  /** Messages between the parts of the service, for each call. */
  readonly messages: number
}

export interface Task {
  readonly work: Work
  readonly action: Action
  /** Where the clients are. */
  readonly audience: readonly Place[]
  /** A multiple of the number of places. */
  readonly samples: number
}

export function measure(world: World, service: Service, task: Task): Measured {
  const { work, audience, samples } = task
  const latencies: number[] = []
  const ofPlace = new Map<Place, number>()
  const each = samples / audience.length
  let calls = 0
  const call = (from: Place, counts: boolean, next: () => void) => {
    calls++
    perform(world, service, task.action, from, latency => {
      const known = ofPlace.get(from) ?? 0
      // A client that is near calls more often than one that is far: each is heard equally often.
      if (counts && (work === 'moving' || known < each)) {
        ofPlace.set(from, known + 1)
        latencies.push(latency)
      }
      next()
    })
  }
  if (work === 'contended') contend(audience, call)
  else oneByOne(world, routeOf(world, task), call)
  world.run(() => latencies.length >= samples)
  if (latencies.length < samples) throw new Error(`${latencies.length} calls of ${samples} were answered`)
  return { latencies: latencies.sort((a, b) => a - b), messages: service.messages / calls }
}

type Call = (from: Place, counts: boolean, next: () => void) => void

/** Takes the lock and gives it back, or does one operation. `next` follows when the client is done. */
function perform(
  world: World,
  service: Service,
  action: Action,
  from: Place,
  next: (latency: number) => void,
): void {
  const began = world.now
  if (action === 'transact') return service.transact(from, () => next(world.now - began))
  service.acquire(from, grant => {
    const latency = world.now - began
    grant.release(() => next(latency))
  })
}

/** Where the calls come from; the first call of a place that works for a while brings the lock there. */
function routeOf(world: World, { work, audience, samples }: Task): () => { from: Place; counts: boolean } {
  const random = new Random(world.conditions.seed, 1)
  let [done, last] = [0, random.pick(audience)]
  if (work === 'moving')
    return () => {
      last = random.pick(audience.filter(place => place !== last))
      return { from: last, counts: true }
    }
  // One more, which is not counted.
  const each = samples / audience.length + 1
  return () => {
    const from = audience[Math.floor(done / each) % audience.length]!
    return { from, counts: done++ % each > 0 }
  }
}

function oneByOne(world: World, route: () => { from: Place; counts: boolean }, call: Call): void {
  const { from, counts } = route()
  call(from, counts, () => world.at(world.now + PAUSE_MS, () => oneByOne(world, route, call)))
}

/** The first call of each client begins the run, and is not counted. */
function contend(audience: readonly Place[], call: Call): void {
  const again = (from: Place) => call(from, true, () => again(from))
  for (const from of audience) call(from, false, () => again(from))
}
