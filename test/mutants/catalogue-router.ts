/** What a router says to whom: signed addresses, names in cursors, tags of values, imports. */
import type { Mutant } from './catalogue.ts'

const signatures: Mutant[] = [
  {
    id: 'signature-without-address',
    trap: 'strangers',
    title: 'the address of a participant that came later is not signed',
    file: 'worker/signature.ts',
    find: 'address === null ? [2, []] : [3, [address]]',
    replace: 'address === null ? [2, []] : [2, []]',
  },
  {
    id: 'signature-of-an-empty-address',
    trap: 'strangers',
    title: 'an address is added to a request that was signed without one, by an empty one',
    file: 'worker/signature.ts',
    find: 'address === null ? [2, []] : [3, [address]]',
    replace: '!address ? [2, []] : [3, [address]]',
  },
]

const majorities: Mutant[] = [
  {
    id: 'locked-without-majority',
    trap: 'outcomes',
    title: 'a lock that has no majority and no holder is called locked',
    file: 'worker/router/who-holds.ts',
    find: 'return answered.size >= majority(',
    replace: 'return answered.size >= 0 * majority(',
  },
  {
    id: 'locked-counts-those-that-left',
    trap: 'outcomes',
    title: 'a lock that has no majority is called locked if participants answer that have left it',
    file: 'worker/router/who-holds.ts',
    find: 'return { answered: new Set(present.map(({ id }) => id)), views: answers }',
    replace: 'return { answered: new Set([...answers.keys(), ...answers.problems.keys()]), views: answers }',
  },
  {
    id: 'locked-asks-the-silent-no-more',
    trap: 'outcomes',
    title: 'a participant that was silent lately counts as gone, though it is back',
    file: 'worker/router/who-holds.ts',
    find: 'const second = await ask(services, lock, id => !first.answered.has(id))',
    replace: 'const second = await ask(services, lock, () => false)',
  },
  {
    id: 'delete-locked-without-majority',
    trap: 'outcomes',
    title: 'a lock that has no majority cannot be deleted because it is locked',
    file: 'worker/router/handlers/ends.ts',
    find: 'await tellMajority(services, lock, asked)',
    replace: 'asked',
  },
  {
    id: 'import-filled-elsewhere',
    trap: 'import',
    title: 'an import fills its lock at a participant that has no part in it',
    file: 'worker/router/handlers/moving.ts',
    find: '?? participants.find(({ id }) => id === firstOwner) ?? asked',
    replace: '?? asked',
  },
]

const listing: Mutant[] = [
  {
    id: 'listing-cursor-of-others',
    trap: 'strangers',
    title: 'the cursor of a list names a lock that the key may not read',
    file: 'worker/router/handlers/listing.ts',
    find: 'fitting.length === 0 && !isLast ? null : { entries: fitting, isLast }',
    replace: 'fitting.length < 0 ? null : { entries, isLast }',
  },
  {
    id: 'listing-patterns-unsaid',
    trap: 'strangers',
    title: 'the objects of the index are not told which names count, and name others at the ends of pages',
    file: 'worker/router/handlers/listing.ts',
    find: 'prefix, within: patterns, after',
    replace: 'prefix, after',
  },
  {
    id: 'listing-patterns-overlap',
    trap: 'index',
    title: 'a name that fits two patterns of a key is listed twice, or in the wrong place',
    file: 'shared/api/name-patterns.ts',
    subject: 'service',
    find: '[...new Set(below)].filter(pattern => !isCovered(pattern)).sort()',
    replace: 'below.filter(pattern => pattern !== null || isCovered(pattern))',
  },
  {
    id: 'listing-prefix-widens',
    trap: 'strangers',
    title: 'with a longer prefix than its own a key is told of the names of that prefix',
    file: 'shared/api/name-patterns.ts',
    subject: 'service',
    find: 'return isBeginning(pattern) && matches(pattern, prefix) ?',
    replace: "return isBeginning(pattern) && (matches(pattern, prefix) || pattern !== '') ?",
  },
]

const tags: Mutant[] = [
  {
    id: 'etag-of-the-revision-alone',
    trap: 'as it is',
    title: 'the value of a later lock of the same name is not modified, if its revision is the same',
    file: 'worker/router/handlers/state.ts',
    find: 'digest(value as Json)}"',
    replace: 'digest(value as Json).length}"',
  },
  {
    id: 'etag-of-the-value-alone',
    trap: 'as it is',
    title: 'a value that was written again is not modified, though its revision is another one',
    file: 'worker/router/handlers/state.ts',
    find: 'const tagOf = ({ revision, value }: StateAnswer)',
    replace: 'const tagOf = ({ value }: StateAnswer, revision = 2)',
  },
]

const imports: Mutant[] = [
  {
    id: 'import-of-what-is-to-come',
    trap: 'import',
    title: 'a later operation has the revision of an imported one',
    file: 'worker/router/import-document.ts',
    find: 'if (sequence > this.sequence)',
    replace: 'if (sequence > 2 ** 60)',
  },
  {
    id: 'import-sequence-after-the-lists',
    trap: 'import',
    title: 'what stands before the sequence of an export may be above it',
    file: 'worker/router/import-document.ts',
    find: '    this.checkSequence(this.highest.path, this.highest.sequence)\n',
    replace: '',
  },
  {
    id: 'import-key-twice',
    trap: 'import',
    title: 'an import may have a key twice',
    file: 'worker/router/import-document.ts',
    find: 'if (this.names[list].has(name))',
    replace: "if (list === 'results' && this.names[list].has(name))",
  },
  {
    id: 'import-results-in-any-order',
    trap: 'import',
    title: 'an import may name results in another order than they are forgotten in',
    file: 'worker/router/import-document.ts',
    find: 'if (sequence < this.lastSequence)',
    replace: 'if (sequence < 0)',
  },
  {
    id: 'import-lost-is-another',
    trap: 'import',
    title:
      'an import whose lock was created without an answer takes it for that of somebody else, and leaves it',
    file: 'worker/router/handlers/moving.ts',
    find: 'const isOurs = created || configuration.imported?.by === by',
    replace: 'const isOurs = created',
  },
  {
    id: 'import-any-is-ours',
    trap: 'import',
    title: 'an import fills a lock that another import has made',
    file: 'worker/router/handlers/moving.ts',
    find: 'const isOurs = created || configuration.imported?.by === by',
    replace: 'const isOurs = created || configuration.imported !== undefined',
  },
  {
    id: 'import-lost-leaves-ruins',
    trap: 'import',
    title: 'an import that never hears of its lock leaves it behind',
    file: 'worker/router/handlers/moving.ts',
    find: '    runLater(c, removeIfCreated(call, by))\n',
    replace: '',
  },
  {
    id: 'import-lost-removes-any',
    trap: 'import',
    title: 'an import that hears nothing deletes the lock that has its name',
    file: 'worker/router/handlers/moving.ts',
    find: 'if (configuration.imported?.by === by) await remove',
    replace: 'if (by.length > 0) await remove',
  },
]

const doubts: Mutant[] = [
  {
    id: 'doubt-of-operators-forgotten',
    trap: 'outcomes',
    title: 'a refusal says that nothing was done, though a participant that is silent may have done it',
    file: 'worker/router/routing.ts',
    find: "  return answer.outcome === undefined ? answer : { ...answer, outcome: 'unknown' }\n",
    replace: '  return answer\n',
  },
  {
    id: 'opened-and-given-up',
    trap: 'streams',
    title: 'a stream that began while its participant was asked whether it is there is broken off after that',
    file: 'worker/router/time-limit.ts',
    find: '      if (isOver) return\n',
    replace: '',
  },
]

export const routerMutants: Mutant[] = [
  ...signatures,
  ...majorities,
  ...listing,
  ...tags,
  ...imports,
  ...doubts,
]
