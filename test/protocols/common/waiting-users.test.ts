/** The records of users that wait, step by step, whichever protocol they wait for. */
import { expect, it } from 'vitest'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type DurableRecord,
  type UserInput,
} from '../../../shared/protocols/protocol.ts'
import { beginStepOf, takeEffects } from '../../../shared/protocols/step.ts'
import { joinQueue, onWithdraw, takeFirst, type Waiter } from '../../../shared/protocols/waiting-users.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'

const context: Context = {
  config: {
    self: 1,
    participants: 1,
    configuration: 1,
    localHandoffs: 1,
    timing: DEFAULT_TIMING,
    limits: DEFAULT_LIMITS,
  },
  resource: keyValue,
}

const aTry = (waitMs: number): Extract<UserInput, { type: 'try' }> => ({
  type: 'try',
  user: 'ann',
  ttlMs: 1_000,
  waitMs,
})

/** What is written in one step. */
function written(localQueue: { waiters: Waiter[] }, happens: (step: Step) => void): readonly DurableRecord[] {
  const step = Object.assign(beginStepOf<never, 'wait'>(context, 0, {}), { localQueue })
  happens(step)
  const [first] = takeEffects(step)
  return first?.type === 'save' ? first.records : []
}

type Step = Parameters<typeof takeFirst<Waiter>>[0]

it('a user that comes and goes in within one step was never written down', () => {
  const comesAndGoesIn = (step: Step) => {
    joinQueue(step, aTry(500), {})
    takeFirst(step)
  }
  expect(written({ waiters: [] }, comesAndGoesIn)).toEqual([])
})

it('a user that came earlier is deleted, also if the step that lets it in prolongs its wait', () => {
  const localQueue = { waiters: [] as Waiter[] }
  const waiter = { number: 1, user: 'ann', ttlMs: 1_000, waitUntil: 500 }
  expect(written(localQueue, step => joinQueue(step, aTry(500), {}))).toEqual([
    { key: 'waiter/1', value: waiter },
  ])
  expect(written(localQueue, step => joinQueue(step, aTry(900), {}))).toEqual([
    { key: 'waiter/1', value: { ...waiter, waitUntil: 900 } },
  ])
  const prolongedAndLetIn = (step: Step) => {
    joinQueue(step, aTry(950), {})
    takeFirst(step)
  }
  expect(written(localQueue, prolongedAndLetIn)).toEqual([{ key: 'waiter/1', value: null }])
  expect(localQueue.waiters).toEqual([])
})

it('a user that gives up is deleted, and the protocol hears of it', () => {
  const localQueue = { waiters: [] as Waiter[] }
  written(localQueue, step => joinQueue(step, aTry(500), {}))
  const gone: string[] = []
  const givesUp = (step: Step) =>
    onWithdraw(step, { type: 'withdraw', user: 'ann' }, ({ user }) => gone.push(user))
  expect(written(localQueue, givesUp)).toEqual([{ key: 'waiter/1', value: null }])
  expect(gone).toEqual(['ann'])
})
