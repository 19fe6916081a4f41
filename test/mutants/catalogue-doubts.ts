/** Answers that got lost, two at once, and documents that no lock has written: sessions, client, import. */
import type { Mutant } from './catalogue.ts'

const ROUTER = 'worker/router'
const SERVICE = 'service' as const

const sessions: Mutant[] = [
  {
    id: 'session-outcome-unwritten',
    trap: 'outcomes',
    title: 'a session is told an outcome that the next instance does not know, and cannot leave',
    file: 'worker/participant/streams/sessions.ts',
    find: '        this.storage.hurry()\n        const { opId, sequence } = event',
    replace: '        const { opId, sequence } = event',
  },
  {
    id: 'session-never-silent',
    trap: 'silence',
    title: 'a session whose service says nothing any more goes on for ever',
    file: 'client/session.ts',
    find: 'if (this.#clock.now() - this.#heardAt >= ttlMs) return',
    replace: 'if (this.#heardAt < 0) return',
  },
  {
    id: 'session-user-twice',
    trap: 'outcomes',
    title: 'a session that is opened again has the name of the one whose answer got lost',
    file: `${ROUTER}/participants.ts`,
    find: 'const request: MakeRequest = signal => new Request(addressOf(path()), { headers, signal: signal() })',
    replace:
      'const once = path()\n    const request: MakeRequest = signal => new Request(addressOf(once), { headers, signal: signal() })',
  },
  {
    id: 'eject-twice-is-none',
    trap: 'outcomes',
    title: 'who asks again for an ejection hears that the holder is another one, because another one came in',
    file: 'shared/protocols/wme/users.ts',
    find: 'inCriticalSection(durable.stub.phase) && !isAgain',
    replace: 'inCriticalSection(durable.stub.phase)',
  },
]

const ghosts: Mutant[] = [
  {
    id: 'ghost-of-an-overloaded-participant',
    trap: 'ghosts',
    title: 'what may have been granted before a participant had too much to do is not withdrawn',
    file: `${ROUTER}/routing.ts`,
    find: '      if (result.isInDoubt) plan.abandon?.(place)\n',
    replace: '',
  },
  {
    id: 'ghost-of-a-first-try',
    trap: 'ghosts',
    title: 'what may have been granted is not withdrawn if there is no room for the second try',
    file: `${ROUTER}/routing.ts`,
    find: "if (isInDoubt && answer.type === 'problem' && answer.code === 'too_many') plan.abandon?.(place)",
    replace: '',
  },
  {
    id: 'ghost-behind-a-proxy',
    trap: 'ghosts',
    title: 'what a proxy answers to an acquire is taken for the word of the service',
    file: 'client/acquire.ts',
    find: "  if (error instanceof BatonError && error.outcome === 'unknown') return true\n",
    replace: '',
  },
]

const recipes: Mutant[] = [
  {
    id: 'recipe-mixed-reads',
    trap: 'recipes',
    subject: SERVICE,
    title: 'a decision rests on values that were never there together',
    file: 'recipes/change.ts',
    find: 'reads.every(one => one.sequence === sequence) ? { result, fence: 0, sequence } : null',
    replace: '{ result, fence: 0, sequence }',
  },
  {
    id: 'recipe-done-again',
    trap: 'recipes',
    subject: SERVICE,
    title: 'what is known to be applied is done again',
    file: 'recipes/refusals.ts',
    find: "outcome === undefined || outcome === 'not-applied'",
    replace: "outcome !== 'unknown'",
  },
  {
    id: 'recipe-done-forgotten',
    trap: 'recipes',
    subject: SERVICE,
    title: 'of an item that was done without an answer it is said that nothing was applied',
    file: 'recipes/delivery.ts',
    find: '      this.#doubt = revision\n',
    replace: '',
  },
  {
    id: 'recipe-leaders-of-before',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever observes is shown all leaders of the past',
    file: 'recipes/leader-election.ts',
    find: 'return { record, sequence, fence: await this.#fence(signal) }',
    replace: 'return { record, sequence: record === null ? 0 : sequence, fence: await this.#fence(signal) }',
  },
]

const imports: Mutant[] = [
  {
    id: 'import-deletes-the-work-of-others',
    trap: 'import',
    title: 'an import that fails deletes what others have done since',
    file: `${ROUTER}/handlers/moving.ts`,
    find: '{ ifUnused: true, ...(begun',
    replace: '{ ...(begun',
  },
  {
    id: 'import-removed-elsewhere',
    trap: 'import',
    title:
      'what is left of an import is removed at another participant, where the import itself is waited for',
    file: `${ROUTER}/handlers/moving.ts`,
    find: "const isSettled = there?.type === 'answered' && there.answer.type !== 'elsewhere'",
    replace: 'const isSettled = false',
  },
  {
    id: 'import-last-answer-lost',
    trap: 'outcomes',
    title: 'an import that may be complete is told that it is being deleted',
    file: `${ROUTER}/handlers/moving.ts`,
    find: 'return finished === SILENT ? IN_DOUBT : finished',
    replace: 'return finished',
  },
  {
    id: 'import-any-epoch',
    trap: 'import',
    title: 'an import may begin where fences are no numbers any more',
    file: 'shared/api/moving-schemas.ts',
    find: '    .max(MOST)\n',
    replace: '',
  },
  {
    id: 'import-does-not-follow',
    trap: 'import',
    title: 'the export of a lock that follows its work cannot be imported',
    file: 'shared/api/moving-schemas.ts',
    find: '    follow: follow.optional(),\n',
    replace: '',
  },
  {
    id: 'import-any-order',
    trap: 'import',
    title: 'an import may name an operation twice',
    file: `${ROUTER}/import-document.ts`,
    find: 'if (this.names[list].has(name))',
    replace: "if (list === 'cells' && this.names[list].has(name))",
  },
  {
    id: 'import-result-twice',
    trap: 'import',
    title: 'an operation that was done again while it was imported has two places among the results',
    file: 'shared/resource/replica.ts',
    find: 'const taken = results.filter(isNew)',
    replace: 'const taken = results.filter(one => isNew(one) || one !== null)',
  },
  {
    id: 'import-any-weight',
    trap: 'import',
    title: 'an import may have a value that no row can hold',
    file: `${ROUTER}/import-document.ts`,
    find: '? isHeavierThan((checked.value as ImportedCell).value.value, API_LIMITS.valueWeight)',
    replace: '? false',
  },
  {
    id: 'import-not-so-deep',
    trap: 'import',
    title: 'a value that a lock may have is too deep inside of an import',
    file: `${ROUTER}/import-parts.ts`,
    find: 'API_LIMITS.batchWeight, DEPTH_IN_OPERATION)',
    replace: 'API_LIMITS.batchWeight)',
  },
  {
    id: 'import-aside-is-listed',
    trap: 'import',
    title: 'the parts of an import are listed as keys',
    file: 'worker/participant/calls/reading.ts',
    find: '    .filter(cell => !isAside(cell))\n',
    replace: '',
  },
]

const operators: Mutant[] = [
  {
    id: 'eject-of-whoever-is-inside',
    trap: 'operators',
    title: 'of a holder that nobody had heard of it is said that it had the fence that was named',
    file: 'shared/protocols/wme/users.ts',
    find: 'eject.isNamed && eject.fence <= fence && (holder ?? -1) > eject.fence',
    replace: 'eject.isNamed && eject.fence <= fence && (holder ?? -1) > fence + 1_024',
  },
  {
    id: 'eject-of-another-fence',
    trap: 'operators',
    title: 'an operator that names a fence forces out a holder with another one',
    file: 'shared/protocols/wme/users.ts',
    find: '    isNamed,\n    isSettled: isNamed,\n',
    replace: '    isNamed: false,\n    isSettled: false,\n',
  },
]

export const doubtMutants: Mutant[] = [...operators, ...sessions, ...ghosts, ...recipes, ...imports]
