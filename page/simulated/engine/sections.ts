/**
 * The critical sections of a tape: from when a user hears that it is inside until it leaves or is ejected.
 */
import type { Tape } from './tape.ts'

export interface Section {
  readonly participant: number
  readonly user: string
  readonly fence: number
  readonly epoch: number
  /** The moments in which it began and ended; `null`: it goes on. */
  readonly from: number
  to: number | null
  ending: 'left' | 'ejected' | null
}

/** Within the first `position` moments, in the order of their beginning. */
export function sectionsOf(tape: Tape, position: number): Section[] {
  const sections: Section[] = []
  const open = new Map<string, Section>()
  const { events } = tape.history
  let next = 0
  for (let moment = 0; moment < position; moment++) {
    for (const end = tape.moments[moment]!.recorded; next < end; next++) {
      const event = events[next]!
      if (!('user' in event)) continue
      const { user, participant } = event
      const section = open.get(user)
      if (event.type === 'crit') {
        const { fence, epoch } = event
        const begun: Section = { participant, user, fence, epoch, from: moment, to: null, ending: null }
        sections.push(begun)
        open.set(user, begun)
      } else if (section !== undefined && ENDINGS.includes(event.type)) {
        section.to = moment
        section.ending = event.type === 'ejected' ? 'ejected' : 'left'
        open.delete(user)
      }
    }
  }
  return sections
}

const ENDINGS: readonly string[] = ['exit', 'rem', 'ejected', 'crash']
