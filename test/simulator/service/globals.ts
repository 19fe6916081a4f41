/**
 * Router and client take the time, timers and chance from the platform's globals where they are not given
 * any. While a run lasts these are the run's own: virtual time without skew, and chance from the seed.
 */
import type { Random } from '../random.ts'
import type { Loop, Timer } from './loop.ts'

type Globals = { [name: string]: unknown }

/** The first virtual moment: clocks show dates that look like dates. */
export const EPOCH_MS = Date.UTC(2030, 0, 1)

const RealDate = Date

/** Replaces the globals, and returns what brings the real ones back. */
export function replaceGlobals(loop: Loop, random: Random): () => void {
  const timers = new Map<number, Timer>()
  let count = 0
  const now = (): number => EPOCH_MS + Math.floor(loop.now)
  class VirtualDate extends RealDate {
    constructor(...given: [] | [number | string]) {
      if (given.length === 0) super(now())
      else super(given[0])
    }

    static override now(): number {
      return now()
    }
  }
  const setTimer = (run: () => void, delayMs = 0): number => {
    const id = ++count
    const fire = (): void => {
      timers.delete(id)
      run()
    }
    timers.set(id, loop.after(Math.max(1, delayMs), fire))
    return id
  }
  const clearTimer = (id: number): void => {
    timers.get(id)?.cancel()
    timers.delete(id)
  }
  const restore = [
    replace(globalThis, {
      Date: VirtualDate,
      setTimeout: setTimer,
      clearTimeout: clearTimer,
      fetch: () => {
        throw new Error('a simulated process has no network but the simulated one')
      },
    }),
    replace(AbortSignal, {
      timeout: (delayMs: number) => {
        const controller = new AbortController()
        setTimer(() => controller.abort(new DOMException('The time is over.', 'TimeoutError')), delayMs)
        return controller.signal
      },
    }),
    replace(Math, { random: () => random.fraction() }),
    replace(performance, { now: () => loop.now }),
    replace(crypto, {
      getRandomValues: (bytes: Uint8Array) => fill(bytes, random),
      randomUUID: () => uuidFrom(fill(new Uint8Array(16), random)),
    }),
  ]
  return () => {
    for (const undo of restore) undo()
  }
}

export function fill(bytes: Uint8Array, random: Random): Uint8Array {
  for (let at = 0; at < bytes.length; at++) bytes[at] = random.below(256)
  return bytes
}

function uuidFrom(bytes: Uint8Array): string {
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20]].map(part => hex.slice(...part)).join('-')
}

/**
 * Methods of a platform's objects may stand on the prototype: what was not the object's own is taken away
 * again.
 */
function replace(owner: object, replacements: Globals): () => void {
  const before = Object.keys(replacements).map(
    name => [name, Object.getOwnPropertyDescriptor(owner, name)] as const,
  )
  for (const [name, value] of Object.entries(replacements)) {
    Object.defineProperty(owner, name, { value, configurable: true, writable: true })
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) delete (owner as Globals)[name]
      else Object.defineProperty(owner, name, descriptor)
    }
  }
}
