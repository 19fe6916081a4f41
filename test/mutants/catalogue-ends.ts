/** The end of a lock: how it is decided, what is left of it, and how everybody hears of it. */
import type { Mutant } from './catalogue.ts'

const ENDING = 'shared/birth/ending.ts'
const GENERATION = 'shared/birth/generation.ts'
const CORE = 'shared/birth/lock-core.ts'
const RECEIVE = 'shared/birth/receive.ts'
const DRIVE = 'shared/birth/drive.ts'
const DELETE = 'worker/participant/calls/delete.ts'
const MEMBER = 'worker/participant/core/member.ts'
const STORAGE = 'worker/participant/core/storage.ts'
const ENDS = 'worker/router/handlers/ends.ts'
const INDEX = 'shared/api/lock-index.ts'

export const endMutants: Mutant[] = [
  {
    id: 'end-epoch-of-the-moment',
    trap: 'G12',
    title: 'the next generation is counted from the epoch that the lock began in, not from that of the end',
    file: CORE,
    find: 'epoch: epoch ?? step.state.birth.core!.startEpoch,',
    replace: 'epoch: epoch === undefined ? 0 : step.state.birth.core!.startEpoch,',
  },
  {
    id: 'end-nobody-is-told',
    trap: 'G12',
    title: 'a participant that was away is not told again',
    file: ENDING,
    find: '  change(step, { untold: peers, ',
    replace: '  change(step, { untold: [], ',
  },
  {
    id: 'end-not-told-after-a-crash',
    trap: 'G12',
    title: 'an instance that ends before it has told anybody is the last that knows',
    file: 'shared/birth/lock.ts',
    find: '  tellAll(step)\n  tellMoved(step)\n',
    replace: '  tellMoved(step)\n',
  },
  {
    id: 'end-waiters-wait-on',
    trap: 'told clearly',
    title: 'whoever waits is told that its participant is no member',
    file: GENERATION,
    find: "  dropCore(step, 'unknown', 'ended')",
    replace: "  dropCore(step, 'unknown')",
  },
  {
    id: 'end-pending-not-applied',
    trap: 'not-applied',
    title:
      'an operation whose fate a participant does not know when it hears of the end is called not applied',
    file: GENERATION,
    find: "  dropCore(step, 'unknown', 'ended')",
    replace: "  dropCore(step, 'not-applied', 'ended')",
  },
  {
    id: 'end-asks-the-ledger',
    trap: 'index before vote',
    title: 'a participant that hears of an end has its ledger list the next lock',
    file: RECEIVE,
    find: "  if (envelope.body.type === 'outdated') return\n",
    replace: '',
  },
  {
    id: 'end-finishing-gives-birth',
    trap: 'G12',
    title: 'a process that lost its storage gives birth to a lock that was deleted',
    file: DRIVE,
    find: '  stopFinishing(step)\n',
    replace: '',
  },
  {
    id: 'end-stale-unreachable',
    trap: 'G12',
    title: 'whom an earlier ballot could not reach counts against the next lock',
    file: GENERATION,
    find: '  soft.unreachable.clear()\n',
    replace: '',
  },
  {
    id: 'end-commands-numbered-anew',
    trap: 'G12',
    title: 'a command has the number of one that a core asked for that was given up',
    file: 'shared/protocols/wme-consensus/step.ts',
    find: 'Math.max(lanes[lane].number, lastNumber(machine, lane, participant)) + 1',
    replace: 'lanes[lane].number + 1',
  },
  {
    id: 'end-ricart-agrawala-from-zero',
    trap: 'fence',
    title: 'the fences of a lock by Ricart and Agrawala begin at 0 again',
    file: 'shared/protocols/ricart-agrawala/records.ts',
    find: '    highest: { request: requestBelow(startFence(config)) },',
    replace: '    highest: { request: 0 * startFence(config) + 0 * requestBelow(0) },',
  },
  {
    id: 'end-any-generation',
    trap: 'a repeated delete',
    title: 'a call to delete a lock that was deleted ends the one that came after it',
    file: DELETE,
    find: '  if (generation > wanted) return done(204, null)',
    replace: '  if (generation > wanted + 1_000_000) return done(204, null)',
  },
  {
    id: 'end-while-held',
    trap: '409 locked',
    title: 'a lock is deleted by force although nobody asked for that',
    file: DELETE,
    find: '(force ? Math.min(end, context.now() + EJECT_AGAIN_MS) : end)',
    replace: 'Math.min(end, context.now() + EJECT_AGAIN_MS)',
  },
  {
    id: 'end-where-silence-permits',
    trap: '501',
    title: 'a lock is deleted whose participants take silence for permission',
    file: DELETE,
    find: '  if (refusal !== null) return refusal\n',
    replace: '  if (refusal === undefined) return refusal\n',
  },
  {
    id: 'end-storage-kept',
    trap: 'nothing but the tombstone',
    title: 'the rows of a lock that was deleted stay on the disk',
    file: STORAGE,
    find: '    this.rows.empty()\n',
    replace: '',
  },
  {
    id: 'end-after-leaving',
    trap: 'a new lock of the name',
    title: 'whoever asked a participant that has left a lock gets no answer if the lock is deleted by then',
    file: 'worker/participant/participant.ts',
    find: '    if (this.member.engine.birth.value === null) return hasLeft\n',
    replace: '',
  },
  {
    id: 'end-next-not-recorded',
    trap: 'a new lock of the name',
    title:
      'what the step that hears of the end does to the next lock is in no history, and nobody is told of it',
    file: MEMBER,
    find: ' : this.record(NOBODY, present, null, hasOtherMembers)',
    replace: ' : this.record(NOBODY, present.slice(present.length), null, hasOtherMembers)',
  },
  {
    id: 'end-last-recorded-in-next',
    trap: 'a new lock of the name',
    title:
      'what the step that hears of the end does to the lock that is over is in the history of the next one',
    file: MEMBER,
    find: ' : emitted.slice(ofEnded)',
    replace: ' : emitted.slice(0 * ofEnded)',
  },
  {
    id: 'end-router-remembers',
    trap: 'a new lock of the name',
    title:
      'the generation that is meant is not said, so the second participant that is asked ends another lock',
    file: ENDS,
    find: '      generation = latestGeneration(views)\n',
    replace: '      generation = views.size > 1_000 ? latestGeneration(views) : null\n',
  },
  {
    id: 'index-late-telling',
    trap: 'index',
    title: 'a late telling brings a deleted lock back into the list',
    file: INDEX,
    find: '  if (known === undefined || told.generation > known.generation) return true',
    replace: '  if (known === undefined || told.generation !== known.generation) return true',
  },
  {
    id: 'index-page-too-long',
    trap: 'index',
    title: 'a page goes beyond where one of its parts ends, and leaves names out',
    file: INDEX,
    find: '      if (end !== null && name > end) continue\n',
    replace: '',
  },
  {
    id: 'index-told-once',
    trap: 'index',
    title: 'an index that did not hear of a lock is not told again',
    file: 'worker/participant/index/teller.ts',
    find: '      if (!isHeard) return this.tellAgainLater()\n',
    replace: '',
  },
  {
    id: 'index-told-always',
    trap: 'index',
    title: 'the index is told with every turn',
    file: 'worker/participant/index/teller.ts',
    find: '    if (mark === null || mark === this.heard || !this.host.hasIndex) return\n',
    replace: '    if (mark === null || !this.host.hasIndex) return\n',
  },
  {
    id: 'index-shows-everything',
    trap: 'index',
    title: 'a key is told of locks that it may not read',
    file: 'worker/router/handlers/listing.ts',
    find: ".filter(({ name }) => mayDo(c, 'read', name))",
    replace: ".filter(({ name }) => name !== null && mayDo(c, 'read', null))",
  },
  {
    id: 'import-from-the-first-epoch',
    trap: 'import',
    title: 'a lock that is made from an export gives its fences away again',
    file: 'shared/birth/register.ts',
    find: '  const startEpoch = Math.max(state.birth.startEpoch + EPOCHS_OF_A_BALLOT, least)',
    replace: '  const startEpoch = Math.max(state.birth.startEpoch + EPOCHS_OF_A_BALLOT, least * 0)',
  },
  {
    id: 'import-from-the-first-place',
    trap: 'import',
    title: 'the log of a lock that is made from an export begins at 0, below the revisions that it has',
    file: CORE,
    find: '{ startSequence: configuration.imported.sequence }',
    replace: '{ startSequence: 0 * configuration.imported.sequence }',
  },
  {
    id: 'import-forgets-results',
    trap: 'import',
    title: 'an operation that was applied before the export is applied again',
    file: 'shared/resource/replica.ts',
    find: '  for (const stored of results) replica.results[resultKey(stored.opId)] = stored\n  replica.order.unshift',
    replace: '  replica.order.unshift',
  },
  {
    id: 'import-in-pieces',
    trap: 'import',
    title: 'what is missing of an export is left out without a word',
    file: 'shared/resource/import.ts',
    find: '    if (part === undefined) return { result: PARTS_MISSING, changes: [], results: [], droppedThrough: null }',
    replace: '    if (part === undefined) continue',
  },
  {
    id: 'import-leaves-ruins',
    trap: 'import',
    title: 'an import that fails leaves a lock behind that has its name',
    file: 'worker/router/handlers/moving.ts',
    find: "({ type: 'delete', user, force: true, generation: null })",
    replace: "({ type: 'withdraw', user })",
  },
]
