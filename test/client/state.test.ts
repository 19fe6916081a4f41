/** State that is known: to the compiler (checked by `npm run types`), and with schemas at run time. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  type Baton,
  type Held,
  type KeyValue,
  type Lock,
  SchemaError,
  type StandardSchema,
  type StateMap,
} from '../../client/index.ts'
import { createHarness, failure } from './harness.ts'

interface Order {
  readonly id: number
  readonly note?: string
}

interface Stock {
  left: number
  orders: Order[]
  leader: string
  [user: `user/${string}`]: { name: string }
}

describe('the type of a state', () => {
  it('tells what a key holds, without a cast', () => {
    const check = async (lock: Lock<StateMap<Stock>>, held: Held<StateMap<Stock>>) => {
      expectTypeOf((await lock.get('left')).value).toEqualTypeOf<number | null>()
      expectTypeOf((await held.get('orders')).value).toEqualTypeOf<Order[] | null>()
      expectTypeOf((await lock.get('user/7')).value).toEqualTypeOf<{ name: string } | null>()
      // @ts-expect-error there is no such key
      await lock.get('right')
      // @ts-expect-error nor here
      await held.get('right')
      const { entries } = await lock.list()
      expectTypeOf(entries[0]!.value).toEqualTypeOf<number | Order[] | string | { name: string }>()
    }
    expectTypeOf(check).toBeFunction()
  })

  it('tells what may be written, and what comes back', () => {
    const check = async (lock: Lock<StateMap<Stock>>, held: Held<StateMap<Stock>>) => {
      const outcome = await held.apply([
        { put: 'left', value: 3, ifRevision: 0 },
        { get: 'orders' },
        { increment: 'left', by: -1 },
        { append: 'orders', value: { id: 1 } },
        { put: 'user/7', value: { name: 'x' } },
        { delete: 'leader' },
      ])
      if (outcome.applied) {
        expectTypeOf(outcome.results[0]).toEqualTypeOf<{ readonly revision: number }>()
        expectTypeOf(outcome.results[1].value).toEqualTypeOf<Order[] | null>()
        expectTypeOf(outcome.results[2].value).toEqualTypeOf<number>()
        expectTypeOf(outcome.results[5].deleted).toEqualTypeOf<boolean>()
      }
      // @ts-expect-error not a number
      await lock.transact([{ put: 'left', value: 'three' }])
      // @ts-expect-error no such key
      await lock.transact([{ put: 'right', value: 3 }])
      // @ts-expect-error only numbers can be incremented
      await lock.transact([{ increment: 'leader' }])
      // @ts-expect-error nothing can be appended to what is no list
      await lock.transact([{ append: 'left', value: 1 }])
      // @ts-expect-error another element
      await lock.transact([{ append: 'orders', value: 'x' }])
      // @ts-expect-error no such key
      await lock.transact([{ get: 'right' }, { delete: 'left' }])
    }
    expectTypeOf(check).toBeFunction()
  })

  it('is given to lock(), as is a resource; without one, anything goes', () => {
    const check = async (baton: Baton) => {
      expectTypeOf(baton.lock<Stock>('a')).toEqualTypeOf<Lock<StateMap<Stock>>>()
      expectTypeOf(baton.lock('a')).toEqualTypeOf<Lock<KeyValue>>()
      type Game = { op: { move: number }; result: string; refusal: never }
      expectTypeOf(baton.lock<Game>('a')).toEqualTypeOf<Lock<Game>>()
      expectTypeOf((await baton.lock('a').get<string>('k')).value).toEqualTypeOf<string | null>()
      await baton.lock<Stock>('a').run(async held => {
        expectTypeOf((await held.get('left')).value).toEqualTypeOf<number | null>()
      })
    }
    expectTypeOf(check).toBeFunction()
  })

  it('comes from schemas too', () => {
    const check = async (baton: Baton) => {
      const lock = baton.lock('a', {
        schemas: {
          left: z.number(),
          since: z.string().transform(text => new Date(text)),
          'user/*': z.object({ name: z.string() }),
        },
      })
      expectTypeOf((await lock.get('left')).value).toEqualTypeOf<number | null>()
      expectTypeOf((await lock.get('since')).value).toEqualTypeOf<Date | null>()
      expectTypeOf((await lock.get('user/7')).value).toEqualTypeOf<{ name: string } | null>()
      await lock.transact([{ put: 'since', value: '2026-01-01' }])
      // @ts-expect-error what is written is text
      await lock.transact([{ put: 'since', value: new Date() }])
      // @ts-expect-error there is no such key
      await lock.get('right')
    }
    expectTypeOf(check).toBeFunction()
  })
})

describe('a schema', () => {
  const schemas = {
    left: z.number().int().min(0),
    since: z.string().transform(text => new Date(text)),
    'user/*': z.object({ name: z.string() }),
    'user/admin/*': z.literal('nobody'),
  }

  function stock() {
    const harness = createHarness()
    return { ...harness, known: harness.baton.lock('test', { schemas }), raw: harness.lock }
  }

  it('gives what is read as it makes it', async () => {
    const { known } = stock()
    await known.transact([{ put: 'since', value: '2026-01-02T00:00:00.000Z' }])
    const since = new Date('2026-01-02T00:00:00.000Z')
    expect(await known.get('since')).toMatchObject({ value: since, revision: 1 })
    expect((await known.list()).entries).toEqual([{ key: 'since', value: since, revision: 1 }])
    for await (const { value } of known.entries()) expect(value).toEqual(since)
    await known.run(async held => {
      expect((await held.get('since')).value).toEqual(since)
      const { results } = await held.apply([{ get: 'since' }, { get: 'left' }])
      expect(results).toEqual([
        { value: since, revision: 1 },
        { value: null, revision: 0 },
      ])
    })
    expect((await known.transact([{ get: 'since' }])).results[0]).toMatchObject({ value: since })
  })

  it('leaves alone what is not there, and keys that it is not for', async () => {
    const { known, raw } = stock()
    expect(await known.get('left')).toEqual({ key: 'left', value: null, revision: 0 })
    await raw.transact([{ put: 'other', value: 'x' }])
    expect((await known.list()).entries[0]).toMatchObject({ key: 'other', value: 'x' })
  })

  it('refuses what is not so before it is sent', async () => {
    const { known, network } = stock()
    const error = await failure(known.transact([{ increment: 'left' }, { put: 'left', value: -1 }]))
    expect(error).toBeInstanceOf(SchemaError)
    expect(error).toMatchObject({ code: 'schema', outcome: 'not-applied', retryable: false })
    expect((error as unknown as SchemaError).issues).toHaveLength(1)
    expect(error.message).toContain('left')
    expect(network.sent).toEqual([])
    await known.run(async held => {
      expect(await failure(held.apply([{ put: 'user/7', value: { name: 7 as never } }]))).toMatchObject({
        code: 'schema',
      })
      expect(await held.apply([{ put: 'left', value: 1 }])).toMatchObject({ applied: true })
    })
    expect(network.of('POST ops')).toHaveLength(1)
  })

  it('refuses what is read and is not so; an operation that was applied says that it was', async () => {
    const { known, raw } = stock()
    await raw.transact([{ put: 'left', value: 'many' }])
    expect(await failure(known.get('left'))).toMatchObject({ code: 'schema', outcome: undefined })
    expect(await failure(known.list())).toBeInstanceOf(SchemaError)
    const error = await failure(known.transact([{ get: 'left' }], { opId: 'mine' }))
    expect(error).toMatchObject({ code: 'schema', outcome: 'applied', opId: 'mine' })
  })

  it('for a prefix is for the keys that begin with it; the longest prefix counts', async () => {
    const { known, raw } = stock()
    await raw.transact([
      { put: 'user/7', value: { name: 'x' } },
      { put: 'user/admin/1', value: 'nobody' },
    ])
    expect((await known.get('user/7')).value).toEqual({ name: 'x' })
    expect((await known.get('user/admin/1')).value).toBe('nobody')
    await raw.transact([{ put: 'user/admin/1', value: { name: 'x' } }])
    expect(await failure(known.get('user/admin/1'))).toBeInstanceOf(SchemaError)
  })

  it('may take its time, and be of any library', async () => {
    const { baton } = stock()
    const even: StandardSchema<number> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async value =>
          Number(value) % 2 === 0 ? { value: Number(value) } : { issues: [{ message: 'odd' }] },
      },
    }
    const lock = baton.lock('even', { schemas: { n: even } })
    await lock.transact([{ put: 'n', value: 2 }])
    expect((await lock.get('n')).value).toBe(2)
    expect(await failure(lock.transact([{ put: 'n', value: 3 }]))).toMatchObject({
      message: 'schema: n: odd',
    })
  })
})
