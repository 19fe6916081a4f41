/**
 * Which part of the code the processor's time goes to. A bundle says above each of its modules from which
 * file it is; what has no line in it is the runtime's own.
 */
import { type CpuProfile, selfTimes } from './profile.ts'

export const PROFILE_PARTS = {
  waiting: 'waiting, mostly for the disk',
  runtime: 'requests, answers and timers, in the runtime',
  collector: 'garbage collection',
  sqlite: 'SQLite',
  router: 'the Worker: hono, validation, routing',
  participant: 'the object: calls, sessions, history, journal',
  protocol: 'the protocol and the state',
} as const

export type ProfilePart = keyof typeof PROFILE_PARTS

/** In microseconds for one of so many repeats. */
export type PartTimes = { readonly [part in ProfilePart]: number }

const OF_SQLITE: ReadonlySet<string> = new Set(['exec', 'one', 'toArray', 'raw', 'transactionSync'])

/** The first that fits. */
const FOLDERS: readonly (readonly [prefix: string, part: ProfilePart])[] = [
  ['worker/participant/', 'participant'],
  ['bench/yardstick/worker.ts', 'router'],
  ['bench/yardstick/', 'participant'],
  ['shared/api/', 'router'],
  ['shared/', 'protocol'],
  ['', 'router'],
]

export function partTimes(profile: CpuProfile, bundle: string, repeats: number): PartTimes {
  const files = filesOf(bundle)
  const times = Object.fromEntries(Object.keys(PROFILE_PARTS).map(part => [part, 0])) as Record<
    ProfilePart,
    number
  >
  for (const [{ callFrame }, microseconds] of selfTimes(profile)) {
    const { functionName, lineNumber } = callFrame
    const part = lineNumber < 0 ? partOfRuntime(functionName) : partOf(files[lineNumber] ?? '')
    times[part] += microseconds / repeats
  }
  return times
}

function partOfRuntime(name: string): ProfilePart {
  if (name === '(idle)') return 'waiting'
  if (name === '(garbage collector)') return 'collector'
  return OF_SQLITE.has(name) ? 'sqlite' : 'runtime'
}

const partOf = (file: string): ProfilePart => FOLDERS.find(([prefix]) => file.startsWith(prefix))![1]

/** The file that each line of a bundle is from. */
function filesOf(bundle: string): string[] {
  let file = ''
  return bundle.split('\n').map(line => {
    file = /^\/\/ (\S+\.(?:ts|js|mjs))$/.exec(line)?.[1] ?? file
    return file
  })
}
