/** What a link to the simulated page shows: `#/simulated?` and these parameters. */
import { readActions, type TimedAction, writeActions } from './engine/actions.ts'
import {
  DEFAULT_SETUP,
  LONG_TTL_MS,
  MAX_MOMENTS,
  MAX_PARTICIPANTS,
  MAX_SEED,
  MIN_TTL_MS,
  type Setup,
  SIMULATED_PROTOCOLS,
} from './engine/setup.ts'
import { scenarioNamed } from './scenarios/all.ts'

export type Source =
  | { readonly kind: 'scenario'; readonly name: string }
  | { readonly kind: 'run'; readonly setup: Setup; readonly actions: readonly TimedAction[] }
  /** A run of the simulator (`npm run sim`). */
  | { readonly kind: 'seed'; readonly setup: Setup; readonly members: boolean }

export interface Link {
  readonly source: Source
  /** How many moments are shown; `null`: whatever is best. */
  readonly position: number | null
}

export type ReadLink = Link | { readonly problem: string }

const FIRST_SCENARIO = 'nice-run'

export function readLink(parameters: URLSearchParams): ReadLink {
  const position = readNumber(parameters, 'at', 0, MAX_MOMENTS * 100, null)
  if (typeof position === 'string') return { problem: position }
  const name = parameters.get('scenario')
  if (name !== null || !parameters.has('protocol')) return scenarioLink(name ?? FIRST_SCENARIO, position)
  const setup = readSetup(parameters)
  if (typeof setup === 'string') return { problem: setup }
  if (parameters.has('sim')) {
    if (setup.protocol === 'redlock') return { problem: 'The simulator does not know Redlock.' }
    return { source: { kind: 'seed', setup, members: parameters.get('sim') === 'members' }, position }
  }
  const actions = readActions(parameters.get('do') ?? '')
  if (typeof actions === 'string') return { problem: actions }
  return { source: { kind: 'run', setup, actions }, position }
}

function scenarioLink(name: string, position: number | null): ReadLink {
  if (scenarioNamed(name) === undefined) return { problem: `There is no scenario “${name.slice(0, 40)}”.` }
  return { source: { kind: 'scenario', name }, position }
}

function readSetup(parameters: URLSearchParams): Setup | string {
  const protocol = SIMULATED_PROTOCOLS.find(known => known === parameters.get('protocol'))
  if (protocol === undefined)
    return `There is no protocol “${(parameters.get('protocol') ?? '').slice(0, 40)}”.`
  const participants = readNumber(parameters, 'n', 1, MAX_PARTICIPANTS, DEFAULT_SETUP.participants)
  if (typeof participants === 'string') return participants
  const seed = readNumber(parameters, 'seed', 0, MAX_SEED, DEFAULT_SETUP.seed)
  if (typeof seed === 'string') return seed
  const ttlMs = readNumber(parameters, 'ttl', MIN_TTL_MS, LONG_TTL_MS, LONG_TTL_MS)
  return typeof ttlMs === 'string' ? ttlMs : { protocol, participants, seed, ttlMs }
}

/** Returns a sentence if there is something and it is no such number. */
function readNumber<Default>(
  parameters: URLSearchParams,
  name: string,
  least: number,
  most: number,
  otherwise: Default,
): number | Default | string {
  const text = parameters.get(name)
  if (text === null) return otherwise
  const value = Number(text)
  const isGood = /^\d{1,10}$/.test(text) && value >= least && value <= most
  return isGood ? value : `“${name}” is a number from ${least} to ${most}.`
}

export function writeLink({ source, position }: Link): string {
  const parameters = new URLSearchParams()
  if (source.kind === 'scenario') parameters.set('scenario', source.name)
  else {
    const { protocol, participants, seed, ttlMs } = source.setup
    parameters.set('protocol', protocol)
    parameters.set('n', String(participants))
    parameters.set('seed', String(seed))
    if (source.kind === 'seed') parameters.set('sim', source.members ? 'members' : 'all')
    else {
      if (ttlMs !== LONG_TTL_MS) parameters.set('ttl', String(ttlMs))
      if (source.actions.length > 0) parameters.set('do', writeActions(source.actions))
    }
  }
  if (position !== null) parameters.set('at', String(position))
  return `#/simulated?${parameters}`
}
