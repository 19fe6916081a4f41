/** What places, states and times are called on the page. */
import { duration } from '../../shared/api/explain-lock.ts'

export { duration }

/** Cloudflare's location hints. */
const REGIONS: { readonly [location: string]: string } = {
  wnam: 'Western North America',
  enam: 'Eastern North America',
  sam: 'South America',
  weur: 'Western Europe',
  eeur: 'Eastern Europe',
  apac: 'Asia-Pacific',
  'apac-ne': 'Northeast Asia',
  'apac-se': 'Southeast Asia',
  oc: 'Oceania',
  afr: 'Africa',
  me: 'Middle East',
}

export const REGION_CODES: readonly string[] = Object.keys(REGIONS)

export function regionName(location: string | null): string {
  return location === null ? 'anywhere' : (REGIONS[location] ?? location)
}

/** A participant as a sentence names it. */
export function participantName({
  id,
  location,
}: {
  readonly id: number
  readonly location: string | null
}): string {
  return location === null ? `participant ${id}` : `participant ${id} (${regionName(location)})`
}

/** How a phase looks; protocols have names of their own for the same few things. */
export type Tone = 'idle' | 'waiting' | 'token' | 'inside' | 'issuing' | 'changing'

const TONES: { readonly [phase: string]: Tone } = {
  idle: 'idle',
  outside: 'idle',
  requesting: 'waiting',
  waiting: 'waiting',
  entering: 'waiting',
  'token-held': 'token',
  'cs-idle': 'inside',
  inside: 'inside',
  'cs-issuing': 'issuing',
  leaving: 'issuing',
}

export const toneOf = (phase: string): Tone => TONES[phase] ?? 'changing'

/** What a phase means, for a tooltip. */
const MEANINGS: { readonly [tone in Tone]: string } = {
  idle: 'nobody here wants the lock',
  waiting: 'somebody here waits for the lock',
  token: 'the token is here, and nobody holds the lock',
  inside: 'somebody here holds the lock',
  issuing: 'the holder here waits for an operation or its release',
  changing: 'this participant does not take part fully',
}

export const meaningOf = (phase: string): string => MEANINGS[toneOf(phase)]

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** A time of day with seconds, in the reader's own time zone. */
export function clockTime(at: number): string {
  const parts = new Date(at)
  return [parts.getHours(), parts.getMinutes(), parts.getSeconds()]
    .map(part => String(part).padStart(2, '0'))
    .join(':')
}
