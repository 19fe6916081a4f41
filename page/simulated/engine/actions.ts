/** What the reader of the page can do to a run, and how a link holds it: `12k3` kills 3 after 12 moments. */
import { MAX_ACTIONS, MAX_MACHINES, MAX_MOMENTS } from './setup.ts'

/** At one participant. */
export type PlaceAction =
  /** A user comes, changes the state once if there is one, and leaves. */
  | 'visit'
  /** A user comes, and stays until it is told to operate or to leave. */
  | 'stay'
  /** A user comes again and again. */
  | 'commute'
  | 'operate'
  | 'leave'
  | 'kill'
  | 'restart'
  | 'wipe'
  | 'pause'
  | 'resume'
  /** An operator forces the holder out, wherever that is. */
  | 'eject'

/** Between two participants. */
export type LinkAction = 'cut' | 'heal' | 'suspect'

export type Action =
  | { readonly type: PlaceAction; readonly participant: number }
  | { readonly type: LinkAction; readonly from: number; readonly to: number }
  | { readonly type: 'members'; readonly members: readonly number[] }

/** `after`: the number of moments before it. */
export interface TimedAction {
  readonly after: number
  readonly action: Action
}

const CODES: { readonly [type in Action['type']]: string } = {
  visit: 't',
  stay: 'h',
  commute: 'a',
  operate: 'o',
  leave: 'l',
  kill: 'k',
  restart: 's',
  wipe: 'w',
  pause: 'p',
  resume: 'r',
  eject: 'e',
  cut: 'c',
  heal: 'm',
  suspect: 'x',
  members: 'g',
}
const TYPES = new Map(Object.entries(CODES).map(([type, code]) => [code, type as Action['type']]))

const numbersOf = (action: Action): readonly number[] =>
  'participant' in action
    ? [action.participant]
    : 'members' in action
      ? action.members
      : [action.from, action.to]

export const writeActions = (actions: readonly TimedAction[]): string =>
  actions.map(({ after, action }) => `${after}${CODES[action.type]}${numbersOf(action).join('-')}`).join('.')

/** Returns a sentence if the text is not a list of actions. */
export function readActions(text: string): readonly TimedAction[] | string {
  if (text === '') return []
  const words = text.split('.')
  if (words.length > MAX_ACTIONS) return `A link holds at most ${MAX_ACTIONS} actions.`
  const actions: TimedAction[] = []
  for (const word of words) {
    const action = readAction(word)
    if (action === null) return `The link has an action that is not known: ${word.slice(0, 40)}`
    if (action.after < (actions.at(-1)?.after ?? 0)) return 'The actions of the link are not in order.'
    actions.push(action)
  }
  return actions
}

function readAction(word: string): TimedAction | null {
  const match = /^(\d{1,6})([a-z])(\d{1,2}(?:-\d{1,2})*)$/.exec(word)
  const type = match === null ? undefined : TYPES.get(match[2]!)
  if (match === null || type === undefined) return null
  const after = Number(match[1])
  const numbers = match[3]!.split('-').map(Number)
  if (after > MAX_MOMENTS || numbers.some(number => number < 1 || number > MAX_MACHINES)) return null
  const action = actionOf(type, numbers)
  return action === null ? null : { after, action }
}

function actionOf(type: Action['type'], numbers: readonly number[]): Action | null {
  if (type === 'members') return { type, members: numbers }
  if (type === 'cut' || type === 'heal' || type === 'suspect') {
    const [from, to] = numbers
    return numbers.length === 2 && from !== to ? { type, from: from!, to: to! } : null
  }
  return numbers.length === 1 ? { type, participant: numbers[0]! } : null
}

const PLACE_WORDS: { readonly [type in PlaceAction]: (participant: number) => string } = {
  visit: id => `A user comes to participant ${id}`,
  stay: id => `A user comes to participant ${id}, to stay`,
  commute: id => `A client comes to participant ${id}, again and again`,
  operate: id => `The user inside at participant ${id} operates`,
  leave: id => `The user at participant ${id} leaves`,
  kill: id => `Participant ${id} is killed`,
  restart: id => `Participant ${id} is started again`,
  wipe: id => `Participant ${id} loses its storage`,
  pause: id => `Participant ${id} stands still, with its users`,
  resume: id => `Participant ${id} goes on`,
  eject: id => `An operator at participant ${id} forces the holder out`,
}

export function describeAction(action: Action): string {
  switch (action.type) {
    case 'cut':
      return `The link from ${action.from} to ${action.to} is cut, and back`
    case 'heal':
      return `The link between ${action.from} and ${action.to} is whole again`
    case 'suspect':
      return `Participant ${action.from} is told that it cannot reach ${action.to}`
    case 'members':
      return `An operator wants the members ${action.members.join(', ')}`
    default:
      return PLACE_WORDS[action.type](action.participant)
  }
}
