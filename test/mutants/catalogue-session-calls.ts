/**
 * The way of a call: through the router, which passes on what it was answered, and as a message of a session.
 */
import type { Mutant } from './catalogue.ts'

const PARTICIPANT = 'worker/participant'
const CALLS = `${PARTICIPANT}/streams/session-calls.ts`
const CLIENT = 'client/session-calls.ts'

const asItIs: Mutant[] = [
  {
    id: 'as-it-is-unasked',
    trap: 'as it is',
    title: 'a router of before gets an answer without its envelope',
    file: 'worker/answer-response.ts',
    find: "if (!asItIs || answer.type !== 'done' || answer.isUntaken)",
    replace: "if (answer.type !== 'done' || answer.isUntaken)",
  },
  {
    id: 'as-it-is-untaken',
    trap: 'as it is',
    title: 'a grant that must be handed over is passed on like any other',
    file: 'worker/answer-response.ts',
    find: ' || answer.isUntaken) return',
    replace: ') return',
  },
  {
    id: 'as-it-is-without-revision',
    trap: 'as it is',
    title: 'a read that is passed on has no ETag',
    file: 'worker/router/handlers/state.ts',
    find: ': pass(c, answer, headers)',
    replace: ': pass(c, answer)',
  },
  {
    id: 'key-known-by-anybody',
    trap: 'as it is',
    title: 'a key that nobody knows is remembered as known',
    file: 'worker/router/authentication.ts',
    find: 'if (found.length === 0) return unauthenticated(c, WRONG_KEY)',
    replace: 'if (found.length < 0) return unauthenticated(c, WRONG_KEY)',
  },
  {
    id: 'body-as-long-as-it-says',
    trap: 'as it is',
    title: 'a body is believed to be as long as it says',
    file: 'worker/limited-body.ts',
    find: "return whole.byteLength > most ? 'too-large' : whole",
    replace: 'return whole',
  },
  {
    id: 'address-of-the-last-one',
    trap: 'as it is',
    title: 'every request is taken to have come to the address of the last one',
    file: 'worker/address.ts',
    find: 'if (last !== null && beginning === last.beginning) return last.address',
    replace: 'if (last !== null) return last.address',
  },
]

const handovers: Mutant[] = [
  {
    id: 'handover-of-a-birth',
    trap: 'as it is',
    title: 'a grant for which only the birth of the lock was waited for is handed over',
    file: `${PARTICIPANT}/core/handovers.ts`,
    find: 'this.host.now() + BRIEF_MS)',
    replace: 'this.host.now() - 1)',
  },
  {
    id: 'handover-never',
    trap: 'as it is',
    title: 'a user is not suspected to have gone, however long it waits',
    file: `${PARTICIPANT}/core/handovers.ts`,
    find: 'this.host.now() + BRIEF_MS)',
    replace: 'Number.POSITIVE_INFINITY)',
  },
]

const sessionCalls: Mutant[] = [
  {
    id: 'session-call-stays',
    trap: 'session calls',
    title: 'the transact of a session that was closed goes on waiting',
    file: `${PARTICIPANT}/streams/sessions.ts`,
    find: '    this.calls.leave(tag)\n',
    replace: '',
  },
  {
    id: 'session-call-lost-in-silence',
    trap: 'session calls',
    title: 'a session is not told that its calls are lost with the instance',
    file: CALLS,
    find: '      this.host.say(socket, LOST)\n',
    replace: '',
  },
  {
    id: 'session-call-counted-for-ever',
    trap: 'session calls',
    title: 'calls that were answered are told to be lost',
    file: CALLS,
    find: 'if (socket !== undefined) this.count(socket, this.talks.get(tag)?.size ?? 0)',
    replace: 'if (socket === null) this.count(socket, this.talks.get(tag)?.size ?? 0)',
  },
  {
    id: 'session-reads-without-the-verb',
    trap: 'session calls',
    title: 'a session reads with a key that may not',
    file: CALLS,
    find: "if (message.type === 'get' && mayRead !== true)",
    replace: "if (message.type === 'get' && mayRead === undefined)",
  },
  {
    id: 'session-may-always-read',
    trap: 'session calls',
    title: 'the router lets every session read',
    file: 'worker/router/handlers/streams.ts',
    find: "...(mayDo(c, 'read', lock) && { read: 'yes' })",
    replace: "...{ read: 'yes' }",
  },
  {
    id: 'session-calls-without-limit',
    trap: 'session calls',
    title: 'the calls of sessions are not among those in flight',
    file: `${PARTICIPANT}/calls/reception.ts`,
    find: '      taken.end()\n      this.onAnswered(call, given, caller)\n',
    replace: '      this.onAnswered(call, given, caller)\n',
  },
  {
    id: 'session-call-for-whoever',
    trap: 'session calls',
    title: 'a refusal does not say of which transact it is',
    file: CALLS,
    find: 'return { opId: message.opId }',
    replace: 'return {}',
  },
  {
    id: 'talk-gone-once',
    trap: 'session calls',
    title: 'a client that has gone is there again at the next question',
    file: `${PARTICIPANT}/calls/conversations.ts`,
    find: 'if (gone || signal?.aborted) leave()',
    replace: 'if (signal?.aborted) leave()',
  },
  {
    id: 'client-outcome-of-an-issue',
    trap: 'session calls',
    title: "the client takes an issue's outcome for that of its transact",
    file: CLIENT,
    find: 'return event.fence === undefined ? null : transactName(event.opId)',
    replace: 'return transactName(event.opId)',
  },
  {
    id: 'client-asks-beside-itself',
    trap: 'session calls',
    title: 'the client asks for an opId again before it was answered',
    file: CLIENT,
    find: '    if (opId !== undefined) {\n      for',
    replace: '    if (opId === undefined) {\n      for',
  },
  {
    id: 'client-forgets-its-doubts',
    trap: 'session calls',
    title: 'the client believes of a lost call what a later one is told',
    file: CLIENT,
    find: 'isInDoubt || this.#inDoubt.has(name)',
    replace: 'isInDoubt',
  },
  {
    id: 'client-waits-without-doubt',
    trap: 'session calls',
    title: 'the client forgets the fate of the call that it has waited for',
    file: CLIENT,
    find: '        isInDoubt ||= !before.wasRefused\n',
    replace: '',
  },
  {
    id: 'client-unsent-is-unknown',
    trap: 'session calls',
    title: 'the client does not know that what it did not send was not applied',
    file: CLIENT,
    find: "networkError(error), 'not-applied')",
    replace: "networkError(error), 'unknown')",
  },
  {
    id: 'client-broken-session-did-nothing',
    trap: 'session calls',
    title: 'what was under way when the session broke was not applied',
    file: CLIENT,
    find: "rejectWith(error, 'unknown')",
    replace: "rejectWith(error, 'not-applied')",
  },
  {
    id: 'client-any-value-will-do',
    trap: 'session calls',
    title: 'a read takes the answer to an earlier one, which may be older than the question',
    file: CLIENT,
    find: `\`get \${id}\``,
    replace: "'get'",
  },
  {
    id: 'client-waits-for-ever',
    trap: 'session calls',
    title: 'a session that does not answer is waited for without end',
    file: CLIENT,
    find: "        if (!answered.aborted) this.#onSilence(timeoutError('the session was not answered in time'))\n",
    replace: '',
  },
  {
    id: 'session-transact-from-nowhere',
    trap: 'session calls',
    title: 'a lock does not follow clients that transact in sessions',
    file: 'worker/participant/streams/session-calls.ts',
    find: '    ...(near !== undefined && { near }),\n',
    replace: '',
  },
  {
    id: 'session-refusal-of-nothing',
    trap: 'session calls',
    title: 'the refusal of a number that no double can hold does not say of which transact it is',
    file: 'shared/api/read-json.ts',
    find: 'message: NOT_FINITE }, value }',
    replace: 'message: NOT_FINITE } }',
  },
]

export const sessionCallMutants: Mutant[] = [...asItIs, ...handovers, ...sessionCalls]
