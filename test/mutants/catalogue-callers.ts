/** What stands on the caller's side: the client's grants and sessions, the recipes, and the command line. */
import type { Mutant } from './catalogue.ts'
import { lines } from './sources.ts'

const SERVICE = 'service' as const

const client: Mutant[] = [
  {
    id: 'grant-released-twice',
    trap: 'outcomes',
    title: 'a release by id whose first answer got lost is told that others have released the grant',
    file: 'client/grant.ts',
    find: 'if (before === 0 || !(error instanceof ReleasedError)) throw error',
    replace: 'throw error',
  },
  {
    id: 'grant-release-of-anything',
    trap: 'outcomes',
    title: 'a grant that others have released is released again',
    file: 'client/grant.ts',
    find: 'if (before === 0 || !(error instanceof ReleasedError)) throw error',
    replace: 'if (!(error instanceof ReleasedError)) throw error',
  },
  {
    id: 'session-ends-for-one',
    trap: 'session readers',
    title: 'of several readers of a session one alone hears of an event, or of the end',
    file: 'client/session.ts',
    find: '    for (const wake of this.#waiting) wake()\n',
    replace: '    ;[...this.#waiting].at(-1)?.()\n',
  },
]

const recipes: Mutant[] = [
  {
    id: 'configuration-by-revision-alone',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever watches a configuration is not told that of the next lock of its name',
    file: 'recipes/shared-configuration.ts',
    find: 'told = JSON.stringify([revision, value])',
    replace: 'told = JSON.stringify([revision])',
  },
  {
    id: 'configuration-told-anew',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever watches a configuration is told the same one again',
    file: 'recipes/shared-configuration.ts',
    find: 'return told !== before',
    replace: 'return told !== before || revision > 0',
  },
  {
    id: 'done-refused-for-ever',
    trap: 'recipes',
    subject: SERVICE,
    title: 'a `done` that was refused once cannot be said again',
    file: 'recipes/delivery.ts',
    find: "        if (end === 'done') this.#refusals++\n",
    replace: '',
  },
  {
    id: 'done-another-each-time',
    trap: 'recipes',
    subject: SERVICE,
    title: 'a `done` that is repeated after a lost answer is another operation',
    file: 'recipes/delivery.ts',
    find: 'this.#refusals}`',
    replace: 'this.#refusals++}`',
  },
  {
    id: 'sequence-first-stops-all',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever asked for a block of numbers, and gives up, stops all who wait for it',
    file: 'recipes/sequence.ts',
    find: lines(
      'this.#asking ??= this.#takeBlock().finally(() => {',
      '        this.#asking = null',
      '      })',
    ),
    replace: lines(
      'this.#asking ??= unlessAborted(this.#takeBlock(), signal).finally(() => {',
      '        this.#asking = null',
      '      })',
    ),
  },
  {
    id: 'sequence-nobody-stops',
    trap: 'recipes',
    subject: SERVICE,
    title: 'who gives up waiting for a block of numbers waits on',
    file: 'recipes/sequence.ts',
    find: 'await unlessAborted(this.#asking, signal)',
    replace: 'await unlessAborted(this.#asking, undefined)',
  },
  {
    id: 'sequence-half-a-key',
    trap: 'recipes',
    subject: SERVICE,
    title: 'a number is named by the beginning of its key, and by its id',
    file: 'recipes/sequence.ts',
    find: 'this.#keyDigest = digestOf(key)',
    replace: 'this.#keyDigest = key.slice(0, 60)',
  },
  {
    id: 'read-write-writer-is-removed',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever waits for a writer that takes long fails because it cannot remove it',
    file: 'recipes/read-write-lock.ts',
    find: 'await this.#changeIfFree(remove, deadline, signal)',
    replace: 'await this.#change(remove, signal)',
  },
  {
    id: 'read-write-locked-is-the-end',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever finds the lock held does not wait for as long as it wants',
    file: 'recipes/change.ts',
    find: 'if (error instanceof LockedError) return null',
    replace: 'if (error === null) return null',
  },
  {
    id: 'read-write-beyond-the-deadline',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever waits for a writer is not told in time that its own time is over',
    file: 'recipes/read-write-lock.ts',
    find: 'const waitMs = Math.min(deadline - this.#clock.now(), this.#leaseMs / 3)',
    replace: 'const waitMs = this.#leaseMs / 3',
  },
  {
    id: 'queue-take-gives-up-early',
    trap: 'recipes',
    subject: SERVICE,
    title: 'whoever waits for an item does not wait for the lock for as long',
    file: 'recipes/work-queue.ts',
    find: 'const lockMs = Math.max(LOCK_WAIT_MS, deadline - this.#clock.now())',
    replace: 'const lockMs = LOCK_WAIT_MS',
  },
  {
    id: 'transfer-begun-anew',
    trap: 'recipes',
    subject: SERVICE,
    title: 'a transfer that others have finished long ago takes the amount once more',
    file: 'recipes/transfer.ts',
    find: "      if (known === undefined && how === 'go on') return { result: null }\n",
    replace: '',
  },
]

const commandLine: Mutant[] = [
  {
    id: 'run-command-that-cannot-be-tried',
    trap: 'command line',
    subject: SERVICE,
    title: '`baton run` breaks off while it holds the lock if its command cannot be started at all',
    file: 'cli/child.ts',
    find: 'this.ended = Promise.resolve(this.#notStarted(file, error as NodeJS.ErrnoException))',
    replace: 'throw error',
  },
  {
    id: 'run-command-of-another-user',
    trap: 'command line',
    subject: SERVICE,
    title: '`baton run` breaks off while its command runs as a user that it may not signal',
    file: 'cli/child.ts',
    find: "['ESRCH', 'EPERM']",
    replace: "['ESRCH']",
  },
  {
    id: 'run-command-without-a-name',
    trap: 'command line',
    subject: SERVICE,
    title: '`baton run` acquires the lock for a command that has no name',
    file: 'cli/commands/run.ts',
    find: "    if (program === '') throw new UsageError('the command to run is an empty word')\n",
    replace: '',
  },
]

export const callerMutants: Mutant[] = [...client, ...recipes, ...commandLine]
