/** A bank account as a resource: the balance is never negative, whichever client withdraws wherever. */
import { defineResource, type NotApplied, type OpFailed, OpRefused } from '../../shared/resource/define.ts'

export type AccountOp = { readonly deposit: number } | { readonly withdraw: number }

/** What the client's compiler is to know: `baton.lock<Account>('account-1')`. */
export interface Account {
  readonly op: AccountOp
  readonly result: { readonly balance: number }
  readonly refusal: { readonly error: 'insufficient_funds'; readonly balance: number } | OpFailed | NotApplied
}

export const account = defineResource<AccountOp>({
  name: 'account',
  apply(state, op): Account['result'] {
    const before = (state.get('balance') ?? 0) as number
    const amount = 'deposit' in op ? op.deposit : op.withdraw
    if (!(Number.isSafeInteger(amount) && amount > 0)) throw new RangeError('an amount is a number of cents')
    const balance = 'deposit' in op ? before + amount : before - amount
    if (balance < 0) throw new OpRefused({ error: 'insufficient_funds', balance: before })
    state.set('balance', balance)
    return { balance }
  },
})
