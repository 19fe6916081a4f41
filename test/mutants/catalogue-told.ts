/** Who is told what, and when: answers, events of streams, users whose client or whose core is gone. */
import type { Mutant } from './catalogue.ts'

const CALLS = 'worker/participant/calls'
const STREAMS = 'worker/participant/streams'
const BIRTH = 'shared/birth'

const outcomes: Mutant[] = [
  {
    id: 'call-takes-any-refusal',
    trap: 'outcomes',
    title: 'what another call of the same user is refused, this one is told',
    file: `${CALLS}/grant.ts`,
    find: "(event.type === 'refused' && event.event === 'issue' && isOwn)",
    replace: "(event.type === 'refused' && event.event === 'issue')",
  },
  {
    id: 'ended-grant-any-pending',
    trap: 'outcomes',
    title: 'what became of the pending operation is said of every operation',
    file: `${CALLS}/refusals.ts`,
    find: 'ending?.pending?.opId === opId ? ending?.pending?.outcome : undefined',
    replace: 'ending?.pending?.outcome',
  },
  {
    id: 'transact-own-fence',
    trap: 'once',
    title: 'a transact that was applied before is answered with the fence of its own grant',
    file: `${CALLS}/transact.ts`,
    find: '?? ownFence\n',
    replace: '&& ownFence\n',
  },
  {
    id: 'client-doubts-for-one-wait',
    trap: 'outcomes',
    title: 'each wait of a transact begins without doubts',
    file: 'client/operations.ts',
    find: '      const answer = await operation.send(callNow,',
    replace:
      "      const answer = await new Operation(connection, opId, signal, 'a grant for each request').send(callNow,",
  },
  {
    id: 'client-trusts-strangers',
    trap: 'outcomes',
    title: 'what something in between refuses was not handed on',
    file: 'client/error-factory.ts',
    find: "const fields = { ...known, status, detail, outcome: 'unknown' } as const",
    replace: 'const fields = { ...known, status, detail } as const',
  },
  {
    id: 'dropped-core-unnamed',
    trap: 'outcomes',
    title: 'whoever loses its core is not told which operation was on its way',
    file: `${BIRTH}/lock-core.ts`,
    find: 'opId === undefined ? {} : { pending: { opId, outcome } }',
    replace: "opId !== undefined ? {} : { pending: { opId: '', outcome } }",
  },
  {
    id: 'dropped-core-ejects-leavers',
    trap: 'outcomes',
    title: 'whoever is leaving when its core is dropped is ejected',
    file: `${BIRTH}/lock-core.ts`,
    find: "if (phase === 'leaving' || ",
    replace: "if (phase === '' || ",
  },
  {
    id: 'dropped-core-read',
    trap: 'fail-stop',
    title: 'whoever waits for what was on its way in a core that is dropped is told that it was not applied',
    file: `${CALLS}/once.ts`,
    find: 'if (isOnItsWay && engine.core !== core)',
    replace: 'if (isOnItsWay && engine.birth.generation > birth.generation)',
  },
]

const leaving: Mutant[] = [
  {
    id: 'transact-in-doubt-stays',
    trap: 'B11',
    title: 'a transact whose outcome is not known keeps the lock',
    file: `${CALLS}/transact.ts`,
    find: 'thenExit: true }, until)\n  leave()\n',
    replace: 'thenExit: true }, until)\n  if (event !== null) leave()\n',
  },
  {
    id: 'transact-without-client-waits',
    trap: 'B11',
    title: 'a transact whose client is gone goes on waiting',
    file: `${CALLS}/transact.ts`,
    find: '    isAnswer: isEntry,\n    whenGone: leave,\n',
    replace: '    isAnswer: isEntry,\n',
  },
  {
    id: 'lost-holders-stay',
    trap: 'B11',
    title: 'whoever was inside when the instance ended stays inside',
    file: 'worker/participant/core/connections.ts',
    find: 'return [...lost, ...inside]',
    replace: 'return lost',
  },
  {
    id: 'lost-waiters-stay',
    trap: 'B11',
    title: 'whoever waited without a ticket when the instance ended goes on waiting',
    file: 'worker/participant/core/connections.ts',
    find: 'return [...lost, ...inside]',
    replace: 'return inside',
  },
  {
    id: 'closed-session-stays',
    trap: 'B11',
    title: 'a session that closes leaves its user behind',
    file: `${STREAMS}/sessions.ts`,
    find: '    this.unread.delete(socket.tag)\n    this.leave(socket.tag)\n',
    replace: '    this.unread.delete(socket.tag)\n',
  },
  {
    id: 'restart-forgets-who-waits',
    trap: 'birth',
    title: 'whoever waits for a birth is forgotten when the machine begins anew',
    file: 'worker/participant/parts.ts',
    find: 'onRestart: () => lock.repeat(),',
    replace: 'onRestart: () => {},',
  },
]

const before: Mutant[] = [
  {
    id: 'watchers-before-the-write',
    trap: 'fail-stop',
    title: 'watchers are told before it is written',
    file: `${STREAMS}/watchers.ts`,
    find: '    this.host.turns.afterwards(() => {\n      let free = this.free()\n      for (const watcher of live) {',
    replace:
      '    ;((run: () => void) => run())(() => {\n      let free = this.free()\n      for (const watcher of live) {',
  },
  {
    id: 'sessions-before-the-write',
    trap: 'fail-stop',
    title: 'sessions are told before it is written',
    file: `${STREAMS}/sessions.ts`,
    find: '    this.turns.afterwards(() => socket.send(text))\n    if (known.probe',
    replace: '    socket.send(text)\n    if (known.probe',
  },
]

const lives: Mutant[] = [
  {
    id: 'birth-finished-in-a-life-before',
    trap: 'D2',
    title: 'a participant that was taken back in an earlier incarnation counts as taken back',
    file: `${BIRTH}/lock.ts`,
    find: "status === 'entitled' || status === 'lost'",
    replace: "status === 'entitled'",
  },
  {
    id: 'birth-finished-for-ever',
    trap: 'D2',
    title: 'what was finished once is finished in every later incarnation',
    file: `${BIRTH}/healing.ts`,
    find: 'if (lost >= generation && !isFinished) return',
    replace: 'if (lost >= generation) return',
  },
  {
    id: 'birth-late-answer-of-the-ledger',
    trap: 'D2',
    title: 'an answer of the ledger to an earlier life is taken',
    file: `${BIRTH}/entitlement.ts`,
    find: "standing.status !== 'fresh' || standing.token !== answer.token",
    replace: "standing.status !== 'fresh'",
  },
  {
    id: 'birth-owner-without-a-vote',
    trap: 'D3',
    title: 'a participant that has not voted may own a lock first',
    file: `${BIRTH}/register.ts`,
    find: 'candidate => voters.includes(candidate) && isMember',
    replace: 'candidate => isMember',
  },
  {
    id: 'peer-in-any-process',
    trap: 'strangers',
    title: 'a process answers for the participants of others',
    file: 'worker/peer-door.ts',
    find: ' || !isHere(env, id.data, address)) return null',
    replace: ') return null',
  },
]

export const toldMutants: Mutant[] = [...outcomes, ...leaving, ...before, ...lives]
