/** The exit codes, in one table: the help, docs/cli.md and the tests take them from here. */
export const EXIT = {
  done: 0,
  refused: 1,
  usage: 2,
  busy: 3,
  lost: 4,
  unreachable: 5,
  unknown: 6,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'done'],
  ['1', 'refused or failed: a wrong key, a condition that does not hold, no such key in the state'],
  ['2', 'the command line makes no sense, or a variable in the environment'],
  ['3', 'busy: somebody else holds the lock, and the time to wait is over'],
  ['4', 'lost: the grant is over'],
  ['5', "unreachable: no answer from the service, or no majority of the lock's participants"],
  ['6', 'unknown: nobody can say whether the operation was applied; ask again with --op-id'],
  ['128+n', 'ended by the signal n: 130 for Ctrl-C'],
]

/**
 * `run` ends with the code of its command. Its own codes are out of the way of those that commands use: the
 * code of the table above plus this.
 */
export const RUN_OFFSET = 120
export const RUN_NOT_EXECUTABLE = 126
export const RUN_NOT_FOUND = 127

export const RUN_EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['121', 'refused, for example because of a wrong key; the command did not run'],
  ['122', 'the command line makes no sense; the command did not run'],
  ['123', 'busy: the lock was not granted in time; the command did not run'],
  ['124', 'lost: the lock was lost while the command ran, whatever the command ended with'],
  ['125', 'unreachable: no answer from the service; the command did not run'],
  ['126', 'the command cannot be executed'],
  ['127', 'there is no such command'],
  ['128+n', 'the command, or the wait for the lock, was ended by the signal n'],
  ['others', 'the exit code of the command itself'],
]
