/** Carries out an action on a host. Returns false if there is nothing to do: it is then no moment at all. */
import type { Members } from '../../../shared/protocols/protocol.ts'
import { type Action, describeAction } from './actions.ts'
import type { Host } from './host.ts'
import type { Machine } from './machine.ts'
import { canChangeMembers } from './setup.ts'
import type { Glyph } from './tape.ts'

export function canDo(host: Host, action: Action): boolean {
  if (action.type === 'members') return canChangeMembers(host.setup.protocol)
  if (!('participant' in action))
    return host.machine(action.from) !== undefined && host.machine(action.to) !== undefined
  const machine = host.machine(action.participant)
  if (machine === undefined) return false
  switch (action.type) {
    case 'kill':
    case 'wipe':
      return machine.isUp
    case 'restart':
      return machine.condition === 'down'
    case 'pause':
      return machine.condition === 'up'
    case 'resume':
      return machine.condition === 'paused'
    case 'operate':
      return host.guardsState && userInside(host, machine) !== undefined
    case 'leave':
      return userInside(host, machine) !== undefined
    case 'eject':
      return host.setup.protocol !== 'redlock'
    default:
      return true
  }
}

const userInside = (host: Host, { id }: Machine) =>
  host.users.find(({ participant, state }) => participant === id && state === 'inside')

export function perform(host: Host, action: Action): boolean {
  if (!canDo(host, action)) return false
  const place = 'participant' in action ? action.participant : 'from' in action ? action.from : 0
  const text = describeAction(action)
  host.moment(place, text, null, () => {
    const glyph = GLYPHS[action.type]
    if (glyph !== undefined) host.note(place, glyph, text)
    act(host, action)
  })
  return true
}

const GLYPHS: { readonly [type in Action['type']]?: Glyph } = {
  kill: 'crash',
  restart: 'start',
  wipe: 'wipe',
  pause: 'pause',
  resume: 'resume',
  cut: 'cut',
  heal: 'heal',
  suspect: 'operator',
  eject: 'operator',
  members: 'operator',
}

function act(host: Host, action: Action): void {
  switch (action.type) {
    case 'cut':
      return host.links.cut(action.from, action.to)
    case 'heal':
      return host.links.heal(action.from, action.to)
    case 'suspect':
      return suspect(host, action.from, action.to)
    case 'members':
      return changeMembers(host, action.members)
  }
  const machine = host.machine(action.participant)
  host.touch(machine)
  switch (action.type) {
    case 'visit':
    case 'stay':
    case 'commute':
      return host.welcome(machine.id, action.type)
    case 'operate':
      return userInside(host, machine)!.operate()
    case 'leave':
      return userInside(host, machine)!.leave()
    case 'kill':
      return machine.crash()
    case 'restart':
      return host.start(machine, false)
    case 'wipe':
      machine.crash()
      machine.storage.clear()
      machine.recover()
      machine.crash()
      return host.recorder.wiped(host.now, machine.id)
    case 'pause':
      machine.condition = 'paused'
      return
    case 'resume':
      return host.resume(machine)
    case 'eject':
      return host.ask(machine.id, { type: 'eject', request: `eject at ${Math.round(host.now)}` })
  }
}

function suspect(host: Host, from: number, to: number): void {
  const machine = host.machine(from)
  if (machine.condition === 'up')
    host.step(machine, { type: 'unreachable', now: Math.floor(host.now), peer: to })
}

/** Machines that are new come without a share in the birth. The first member that is up is asked. */
function changeMembers(host: Host, ids: readonly number[]): void {
  for (const id of ids) {
    const isNew = host.machine(id) === undefined
    const machine = host.addMachine(id)
    if (isNew) host.start(machine, false)
  }
  const asked = host.machines.find(machine => machine.condition === 'up' && machine.seat.isMember)
  if (asked === undefined) return
  const members: Members = Object.fromEntries([...ids].sort((a, b) => a - b).map(id => [id, '']))
  const id = `change-${Math.round(host.now)}`
  const { configuration: base } = asked
  host.ask(asked.id, { type: 'change-members', request: id, id, base, members })
}
