/** Waits that were given up, grants that nobody has, and losses that must be heard. */
import type { Mutant } from './catalogue.ts'
import { lines } from './sources.ts'

const HANDOVERS = 'worker/participant/core/handovers.ts'
const WITHDRAWALS = 'worker/participant/core/withdrawals.ts'
const ACQUIRE = 'worker/participant/calls/acquire.ts'
const GRANT = 'worker/participant/calls/grant.ts'

export const ghostMutants: Mutant[] = [
  {
    id: 'untaken-for-ever',
    trap: 'ghosts',
    title: 'a grant that nobody has is left to its time to live',
    file: HANDOVERS,
    find: "member.engine.user({ type: 'keep-alive', user, fence: holder.fence, ttlMs: 0 })",
    replace: 'return',
  },
  {
    id: 'untaken-forgotten-at-restart',
    trap: 'ghosts',
    title: 'an instance that begins anew takes every grant for one that somebody has',
    file: HANDOVERS,
    find: 'for (const key of this.host.storage.keysFrom(UNTAKEN)) this.watch(key.slice(UNTAKEN.length))',
    replace: '',
  },
  {
    id: 'confirm-unheard',
    trap: 'ghosts',
    title: 'a grant ends although its router said that it was taken',
    file: HANDOVERS,
    find: '    this.host.timers.cancel(timer)\n',
    replace: '',
  },
  {
    id: 'ticket-cannot-wait',
    trap: 'ghosts',
    title: 'the grant of a ticket ends before its client comes back',
    file: ACQUIRE,
    find: 'if (call.handsOver && !hasTicket)',
    replace: 'if (call.handsOver)',
  },
  {
    id: 'withdrawn-comes-back',
    trap: 'ghosts',
    title: 'an acquire that comes after its withdrawal is taken',
    file: ACQUIRE,
    find: '  if (context.withdrawals.has(user)) return withdrawnProblem\n',
    replace: '',
  },
  {
    id: 'withdrawals-in-memory',
    trap: 'ghosts',
    title: 'what was withdrawn is forgotten when the instance begins anew',
    file: WITHDRAWALS,
    find: '    this.storage.put(WITHDRAWN + user, now)\n',
    replace: '',
  },
  {
    id: 'loss-unheard',
    trap: 'losses',
    title: 'a keep-alive that waits is not told that the grant is over',
    file: GRANT,
    find: "    (event.type === 'ejected' || event.type === 'rem') && event.fence === fence\n",
    replace: "    event.type === 'rem' && event.fence === fence\n",
  },
  {
    id: 'taken-without-handover',
    trap: 'ghosts',
    title: 'the router confirms a grant whose answer nobody took',
    file: 'worker/router/handover.ts',
    find: '        isGone = true\n        settle(false)\n',
    replace: '        isGone = true\n        settle(true)\n',
  },
  {
    id: 'withdrawn-at-the-nearest',
    trap: 'ghosts',
    title: 'a waiter counts as withdrawn although a participant did not answer',
    file: 'worker/router/handlers/grants.ts',
    find: 'if (silent.length === 0) return nothing(c)',
    replace: 'if (silent.length < participants.length) return nothing(c)',
  },
  {
    id: 'abort-is-no-loss',
    trap: 'ghosts',
    title: 'the client does not withdraw what it aborts',
    file: 'client/acquire.ts',
    find: ' || error instanceof AbortedError',
    replace: '',
  },
  {
    id: 'lost-answer-stays',
    trap: 'ghosts',
    title: 'the client does not withdraw an acquire whose answer got lost',
    file: 'client/acquire.ts',
    find: "        if (isLost(error)) this.#withdraw('waiters', waiter)\n",
    replace: "        if (signal?.aborted) this.#withdraw('waiters', waiter)\n",
  },
  {
    id: 'waiter-used-twice',
    trap: 'ghosts',
    title: 'the client asks again under a name that it has withdrawn',
    file: 'client/acquire.ts',
    find: lines(
      "    return this.#connection.attempts({ repeat: 'always', until: this.#until }, signal, async () => {",
      '      const waiter = randomToken()',
    ),
    replace: lines(
      '    const waiter = randomToken()',
      "    return this.#connection.attempts({ repeat: 'always', until: this.#until }, signal, async () => {",
    ),
  },
  {
    id: 'confirm-too-late',
    trap: 'ghosts',
    title: 'the client does not hurry to confirm a grant that it had to wait for',
    file: 'client/keep-alive.ts',
    find: 'Math.min(intervalMs(), confirmMs / 4)',
    replace: 'intervalMs()',
  },
  {
    id: 'lost-and-resolved',
    trap: 'losses',
    title: 'run does not say that the lock was lost before its callback was done',
    file: 'client/held.ts',
    find: '      if (error instanceof EjectedError || error instanceof ExpiredError) this.#lost = error\n',
    replace: '',
  },
  {
    id: 'released-is-lost',
    trap: 'losses',
    title: 'a release whose first answer got lost counts as a loss',
    file: 'client/held.ts',
    find: '      if (error instanceof EjectedError || error instanceof ExpiredError) this.#lost = error\n',
    replace: '      this.#lost = error\n',
  },
  {
    id: 'granted-as-time-ends',
    trap: 'ghosts',
    title: 'a ticket that became a grant as the time for its answer ended is called unknown',
    file: ACQUIRE,
    find: '  if (member.holderNamed(user) === undefined) return null\n  return yield*',
    replace: '  if (member.view.epoch >= 0) return null\n  return yield*',
  },
  {
    id: 'lost-as-time-ends',
    trap: 'losses',
    title: 'a grant that ended as its keep-alive stopped waiting is called kept',
    file: GRANT,
    find: '  return ending === undefined ? null : overProblem(ending, undefined)\n',
    replace: '  return ending === undefined ? null : null\n',
  },
]
