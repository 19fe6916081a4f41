/** What happens at a participant, in words. */
import type { Input, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import type { Mark, Seat } from './tape.ts'

export const messageName = (type: string): string => type.toUpperCase().replaceAll('-', ' ')

export function inputInWords(id: number, input: Input<{ readonly type: string }>): string {
  switch (input.type) {
    case 'message':
      return `${id} gets ${messageName(input.message.body.type)} from ${input.from}`
    case 'timer':
      return `${id}: its timer ${input.timer} rings`
    case 'user':
      return userInWords(id, input.event)
    case 'unreachable':
      return `${id} is told that it cannot reach ${input.peer}`
    case 'start':
      return `${id} starts`
  }
}

function userInWords(id: number, event: UserInput): string {
  switch (event.type) {
    case 'try':
      return `${id} hears that ${event.user} wants to enter`
    case 'issue':
      return `${id} hears that ${event.user} issues ${event.opId}`
    case 'exit':
      return `${id} hears that ${event.user} leaves`
    case 'eject':
      return `${id} hears that an operator forces the holder out`
    case 'change-members':
      return `${id} hears that the members are to be ${Object.keys(event.members).join(', ')}`
    default:
      return `${id} hears ${event.type}`
  }
}

/** What an operator is told; `null` if it is nothing that matters to a reader. */
export function outputInWords(event: UserOutput): string | null {
  switch (event.type) {
    case 'eject-done':
      return `The operator hears that the holder is out, in epoch ${event.epoch}`
    case 'members-changed':
      return `The members are now ${Object.keys(event.members).join(', ')}; nobody else is needed`
    case 'refused':
      return `The operator is refused: ${event.refusal.code}`
    default:
      return null
  }
}

export function changesInWords(before: Seat | null, after: Seat): Mark[] {
  if (before === null) return []
  const { id: participant } = after
  const marks: Mark[] = []
  if (after.epoch !== before.epoch)
    marks.push({ glyph: 'epoch', participant, text: `${participant} is in epoch ${after.epoch}` })
  for (const peer of after.suspects)
    if (!before.suspects.includes(peer))
      marks.push({ glyph: 'suspects', participant, text: `${participant} suspects ${peer}` })
  for (const peer of before.suspects)
    if (!after.suspects.includes(peer) && after.condition === before.condition)
      marks.push({ glyph: 'trusts', participant, text: `${participant} no longer suspects ${peer}` })
  return marks
}
