/** What the compiler knows. Checked by `npm run types`; nothing of it is run. */
import { expectTypeOf, it } from 'vitest'
import type {
  AppendResult,
  Configuration,
  DeleteResult,
  Entry,
  GetResult,
  Grant,
  Held,
  HistoryPage,
  Holder,
  IncrementResult,
  KeyValueOp,
  Lock,
  LockOptions,
  MembersChange,
  Membership,
  NotApplied,
  OpError,
  Page,
  PutResult,
  Read,
  Status,
  Ticket,
} from '../../client/index.ts'
import type * as api from '../../shared/api/types.ts'

it('a batch written in place has a tuple of results', () => {
  const check = async (held: Held, lock: Lock) => {
    const outcome = await held.apply([
      { put: 'a', value: 1, ifRevision: 0 },
      { get: 'b' },
      { increment: 'n' },
      { append: 'list', value: [] },
      { delete: 'c' },
    ])
    if (outcome.applied) {
      expectTypeOf(outcome.results).toEqualTypeOf<
        readonly [PutResult, GetResult, IncrementResult, AppendResult, DeleteResult]
      >()
    } else {
      expectTypeOf(outcome.results[4]).toEqualTypeOf<OpError | NotApplied>()
      // @ts-expect-error there are five
      outcome.results[5]
    }
    const { applied, results, fence } = await lock.transact([{ increment: 'n' }])
    expectTypeOf(fence).toEqualTypeOf<number>()
    if (applied) expectTypeOf(results[0].value).toEqualTypeOf<number>()
    // @ts-expect-error not known before `applied` is
    results[0].value
  }
  expectTypeOf(check).toBeFunction()
})

it('a batch made elsewhere has a list of results', () => {
  const check = async (held: Held, ops: KeyValueOp[]) => {
    const outcome = await held.apply(ops)
    if (!outcome.applied) return
    expectTypeOf(outcome.results[0]!).toEqualTypeOf<
      PutResult | GetResult | IncrementResult | AppendResult | DeleteResult
    >()
  }
  expectTypeOf(check).toBeFunction()
})

it('what is no op is refused', () => {
  const check = (held: Held) => [
    // @ts-expect-error a put has a value
    held.apply([{ put: 'a' }]),
    // @ts-expect-error a key is a string
    held.apply([{ get: 1 }]),
    // @ts-expect-error no such op
    held.apply([{ remove: 'a' }]),
    // @ts-expect-error a function is no JSON
    held.apply([{ put: 'a', value: () => {} }]),
  ]
  expectTypeOf(check).toBeFunction()
})

it('a lock may guard something else', () => {
  type Game = { op: { move: number }; result: { board: string }; refusal: { why: string } }
  const check = async (lock: Lock<Game>) => {
    const outcome = await lock.run(held => held.apply([{ move: 1 }, { move: 2 }]))
    if (outcome.applied) expectTypeOf(outcome.results[1]).toEqualTypeOf<{ board: string }>()
    else expectTypeOf(outcome.results[0]).toEqualTypeOf<{ why: string }>()
    // @ts-expect-error of another resource
    lock.transact([{ put: 'a', value: 1 }])
  }
  expectTypeOf(check).toBeFunction()
})

it('run gives what its callback gives, and get what it is told', () => {
  const check = async (lock: Lock) => {
    expectTypeOf(await lock.run(() => 1)).toEqualTypeOf<number>()
    expectTypeOf(await lock.run({ waitMs: 1 }, async () => 'x')).toEqualTypeOf<string>()
    expectTypeOf((await lock.get<number>('a')).value).toEqualTypeOf<number | null>()
    expectTypeOf(await lock.tryAcquire()).toEqualTypeOf<Held | null>()
  }
  expectTypeOf(check).toBeFunction()
})

it('the types of the client are those of the service', () => {
  expectTypeOf<api.Grant>().toExtend<Grant>()
  expectTypeOf<api.Ticket>().toExtend<Ticket>()
  expectTypeOf<api.Holder>().toExtend<Holder>()
  expectTypeOf<keyof api.StateAnswer>().toEqualTypeOf<keyof Read>()
  expectTypeOf<keyof api.ListAnswer>().toEqualTypeOf<keyof Page>()
  expectTypeOf<keyof api.ListAnswer['entries'][number]>().toEqualTypeOf<keyof Entry>()
  expectTypeOf<api.StatusAnswer>().toExtend<Status>()
  expectTypeOf<api.ConfigurationAnswer>().toExtend<Configuration>()
  expectTypeOf<keyof api.HistoryAnswer>().toEqualTypeOf<keyof HistoryPage>()
  expectTypeOf<api.ParticipantsAnswer>().toExtend<Membership>()
  expectTypeOf<keyof LockOptions>().toEqualTypeOf<keyof api.ConfigureRequest>()
  expectTypeOf<{ remove: number }>().toExtend<MembersChange & api.ParticipantsRequest>()
})
