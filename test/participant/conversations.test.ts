/** A client that leaves while its call waits for something that it cannot leave. */
import { expect, it } from 'vitest'
import type { UserOutput } from '../../shared/protocols/protocol.ts'
import { ask, type Conversation, Conversations } from '../../worker/participant/calls/conversations.ts'
import type { Timers } from '../../worker/participant/core/timers.ts'
import type { Turns } from '../../worker/participant/core/turns.ts'

const turns = { react: run => run(), afterwards: run => run() } as Pick<
  Turns,
  'react' | 'afterwards'
> as Turns
const timers = { set: () => ({}), cancel: () => {} } as unknown as Timers
const nobody = () => {
  throw new Error('nothing is said')
}

it('a client that has left leaves at the next question that it may leave, too', () => {
  const left: string[] = []
  const conversations = new Conversations(turns, timers, nobody)
  const question = { say: null, until: 1, isAnswer: () => true }
  const talk = conversations.begin(
    (function* (): Conversation<void> {
      yield* ask({ ...question, key: 'first' })
      yield* ask({ ...question, key: 'second', whenGone: () => left.push('second') })
    })(),
    () => {},
  )
  talk.leave()
  expect(left).toEqual([])
  conversations.onStep([{ type: 'rem', user: 'first', fence: 1 } as UserOutput])
  expect(left).toEqual(['second'])
})
