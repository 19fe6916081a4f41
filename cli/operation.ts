/**
 * What `put` and `transact` have in common: one operation, under a grant that is there or under one of its
 * own.
 */
import type { KeyValueOp } from '../client/index.ts'
import type { OptionValues } from './arguments.ts'
import type { Context } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { GRANT_OPTION, grantFor } from './grant-in-use.ts'
import { AT_OPTION, OWNER_OPTION, WAIT_OPTION, waitOf } from './hold.ts'
import type { Output } from './output.ts'
import { optionalInteger } from './values.ts'

export const OPERATION_OPTIONS = {
  wait: WAIT_OPTION,
  'op-id': {
    type: 'string',
    value: '<id>',
    help: 'names the operation: the same id again applies nothing twice',
  },
  grant: GRANT_OPTION,
  owner: OWNER_OPTION,
  at: AT_OPTION,
} as const

export interface OperationAnswer {
  readonly applied: boolean
  readonly sequence: number
  readonly results: readonly object[]
  /** Of the grant that the operation had to itself. */
  readonly fence?: number
}

export async function operate(
  { lock, signals, environment, mustBeThere }: Context,
  name: string,
  ops: readonly KeyValueOp[],
  options: OptionValues<typeof OPERATION_OPTIONS>,
): Promise<OperationAnswer> {
  const waitMs = waitOf(options.wait)
  const at = optionalInteger('--at', options.at, 1)
  const opId = options['op-id']
  const common = { ...(opId !== undefined && { opId }), signal: signals.signal }
  const grant = options.grant ?? grantFor(name, environment)
  const named = lock(name)
  await mustBeThere()
  if (grant !== undefined) return named.grant(grant).apply(ops, common)
  return named.transact(ops, {
    ...common,
    ...(waitMs !== undefined && { waitMs }),
    ...(at !== undefined && { at }),
    ...(options.owner !== undefined && { owner: options.owner }),
  })
}

/** Prints the answer: what `lines` makes of one that was applied, or why nothing was. */
export function printOperation(
  output: Output,
  answer: OperationAnswer,
  lines: () => readonly string[],
): number {
  if (answer.applied || output.isJson) output.result(answer, output.isJson ? [] : lines())
  else output.note(`baton: Nothing was applied: ${whyNot(answer)}.`)
  return answer.applied ? EXIT.done : EXIT.refused
}

function whyNot({ results }: OperationAnswer): string {
  const index = results.findIndex(result => 'error' in result)
  const failed = (results[index] ?? {}) as { readonly error?: string; readonly revision?: number }
  const reason = REASONS[failed.error ?? '']?.(failed) ?? failed.error ?? 'a condition does not hold'
  return results.length > 1 ? `in op ${index + 1}, ${reason}` : reason
}

const REASONS: { readonly [error: string]: (failed: { readonly revision?: number }) => string } = {
  revision_mismatch: ({ revision }) =>
    revision === 0 ? 'the key does not exist (revision 0)' : `the key has revision ${revision}`,
  not_a_number: () => 'the value is not a number',
  not_a_list: () => 'the value is not a list',
  out_of_range: () => 'the sum is beyond the numbers that can be counted exactly',
  too_large: () => 'something is too large (see docs/limits.md)',
}
