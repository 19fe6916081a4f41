/** `export` and `import`: a lock is moved from one service to another, and goes on there. */
import { describe, expect, it } from 'vitest'
import { GUARDING_PROTOCOLS } from '../../shared/protocols/all.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, type TestService, useService } from './harness.ts'
import type { Answer } from './http.ts'
import { expectStatus, TestLock } from './lock.ts'

const here = useService()
const there = useService()

const exported = async (lock: TestLock): Promise<{ [name: string]: unknown }> =>
  expectStatus(await lock.send('GET', '/export'), 200).body as unknown as { [name: string]: unknown }

const imported = (lock: TestLock, body: unknown): Promise<Answer> => lock.send('POST', '/import', { body })

/** Of the same name, at the other service. */
const twinOf = (lock: TestLock, service: TestService = there): TestLock => {
  service.histories.add(lock.name)
  return new TestLock(lock.name, () => service.url)
}

describe('a lock that is moved', () => {
  it.each(GUARDING_PROTOCOLS)('%s: goes on with its state, its results and its fences', async protocol => {
    const lock = here.lock()
    expectStatus(await lock.configure({ protocol, ttlMs: 12_345, localHandoffs: 3 }), 201)
    const first = await lock.transacted([{ put: 'a', value: { deep: [1, 'é😀'] } }], { opId: 'put-a', at: 2 })
    for (let count = 0; count < 5; count++)
      await lock.transacted([{ increment: 'n' }, { append: 'log', value: count }], {
        opId: `op-${count}`,
        at: (count % 3) + 1,
      })
    const last = await lock.transacted([{ delete: 'gone' }, { put: 'last', value: null }], { opId: 'last' })
    const saved = await exported(lock)
    expectStatus(await lock.send('DELETE', ''), 204)

    const twin = twinOf(lock)
    const { body } = expectStatus(await imported(twin, saved), 201)
    expect(body).toMatchObject({ protocol, ttlMs: 12_345, localHandoffs: 3 })
    expect((await twin.get('a')).body).toMatchObject({
      value: { deep: [1, 'é😀'] },
      revision: first.sequence,
    })
    expect(await twin.value('n')).toBe(5)
    expect(await twin.value('log')).toEqual([0, 1, 2, 3, 4])
    for (const at of [1, 2, 3]) expect(await twin.value('last', `?at=${at}`)).toBeNull()

    // What was applied before is answered as it was, with its fence, and applied no second time.
    for (const at of [1, 2, 3]) {
      const again = await twin.transacted([{ increment: 'n' }, { append: 'log', value: 3 }], {
        opId: 'op-3',
        at,
      })
      expect(again.results).toEqual([
        { value: 4, revision: again.sequence },
        { length: 4, revision: again.sequence },
      ])
    }
    expect((await twin.transact([{ increment: 'n' }], { opId: 'op-3' })).body.code).toBe('conflict')
    expect(await twin.value('n')).toBe(5)

    // What comes now is later than everything before.
    const next = await twin.transacted([{ increment: 'n' }], { opId: 'next', at: 3 })
    expect(next.results[0]).toMatchObject({ value: 6 })
    expect(next.fence).toBeGreaterThan(last.fence)
    expect(next.fence).toBeGreaterThan((saved.epoch as number) * 1_024)
    expect(next.sequence).toBeGreaterThan(last.sequence)
    const stale = await twin.transacted([{ put: 'a', value: 0, ifRevision: next.sequence }])
    expect(stale.applied).toBe(false)
    const fresh = await twin.transacted([{ put: 'a', value: 1, ifRevision: first.sequence }])
    expect(fresh.applied).toBe(true)
  })

  it('may be one that was moved before, and come back above what it was', async () => {
    const lock = here.lock()
    let fence = (await lock.transacted([{ increment: 'n' }], { opId: 'move-0' })).fence
    for (const [index, service] of [there, here, there].entries()) {
      const from = new TestLock(lock.name, () => (service === there ? here : there).url)
      const saved = await exported(from)
      expectStatus(await from.send('DELETE', ''), 204)
      const next = twinOf(lock, service)
      expectStatus(await imported(next, saved), 201)
      const again = await next.transacted([{ increment: 'n' }], { opId: `move-${index + 1}` })
      expect(again.fence).toBeGreaterThan(fence)
      fence = again.fence
    }
    expect(await twinOf(lock).value('n')).toBe(4)
  })

  it.each(GUARDING_PROTOCOLS)(
    '%s: keeps all of it when every process ends and begins again',
    async protocol => {
      const lock = here.lock()
      expectStatus(await lock.configure({ protocol }), 201)
      const { fence } = await lock.transacted([{ increment: 'n' }], { opId: 'once' })
      const twin = twinOf(lock)
      expectStatus(await imported(twin, await exported(lock)), 201)
      await there.kill()
      await there.start()
      for (const at of [1, 2, 3]) {
        const again = await eventually(() => twin.transacted([{ increment: 'n' }], { opId: 'once', at }))
        expect([again.fence, again.results[0]]).toMatchObject([fence, { value: 1 }])
        expect(await twin.value('n', `?at=${at}`)).toBe(1)
      }
    },
  )

  it('may be large', async () => {
    const lock = here.lock()
    const text = 'x'.repeat(60_000)
    for (let count = 0; count < 30; count++)
      await lock.transacted([{ put: `key-${count}`, value: text + count }], { opId: `op-${count}` })
    const saved = await exported(lock)
    expect(JSON.stringify(saved).length).toBeGreaterThan(1_800_000)
    const twin = twinOf(lock)
    expectStatus(await imported(twin, saved), 201)
    for (const count of [0, 13, 29]) expect(await twin.value(`key-${count}`)).toBe(text + count)
    const entries = new Map<string, unknown>()
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Answer = await twin.list(cursor === '' ? '' : `?cursor=${cursor}`)
      for (const { key, value } of page.body.entries) entries.set(key, value)
      cursor = page.body.cursor
    }
    expect(entries.size).toBe(30)
  })
})

describe('what an export has', () => {
  it('everything that was answered before, and a lock that nobody holds goes on meanwhile', async () => {
    const lock = here.lock()
    const grant = await lock.granted({ at: 2, ttlMs: 60_000 })
    const { sequence } = await lock.applied(grant, [{ put: 'a', value: 1 }])
    const saved = await exported(lock)
    expect(saved).toMatchObject({
      format: 1,
      lock: lock.name,
      cells: [{ cell: '=a', value: { value: 1, revision: sequence } }],
    })
    expect((await lock.applied(grant, [{ increment: 'n' }])).applied).toBe(true)
    await lock.released(grant)
  })

  it.each(['ricart-agrawala', 'maekawa'] as const)('%s guards nothing: 501', async protocol => {
    const lock = here.lock()
    expectStatus(await lock.configure({ protocol }), 201)
    expect((await lock.send('GET', '/export')).body.code).toBe('not_supported')
  })

  it('404 if there is no such lock', async () => {
    expect((await here.lock().send('GET', '/export')).body.code).toBe('no_such_lock')
  })
})

describe('an import that is refused', () => {
  it('409 if there is a lock of this name, which stays as it is', async () => {
    const lock = here.lock()
    await lock.transacted([{ put: 'a', value: 1 }])
    const saved = await exported(lock)
    expect((await imported(lock, saved)).body.code).toBe('conflict')
    const other = here.lock()
    await other.transacted([{ put: 'a', value: 2 }])
    expect((await imported(other, saved)).body.code).toBe('conflict')
    expect(await other.value('a')).toBe(2)
  })

  it('400 for what is no export, and then there is no such lock', async () => {
    const source = here.lock()
    await source.transacted([{ put: 'a', value: 1 }])
    const saved = await exported(source)
    const lock = here.lock()
    for (const wrong of [
      {},
      { ...saved, format: 2 },
      { ...saved, cells: [{ cell: '=a', more: 1 }] },
      { ...saved, epoch: -1 },
      { ...saved, results: [{ opId: 1 }] },
      { ...saved, more: 1 },
      { ...saved, configuration: { ...(saved.configuration as object), protocol: 'none' } },
    ])
      expect((await imported(lock, wrong)).body.code).toBe('bad_request')
    expect((await imported(lock, { ...saved, resource: 'another' })).body.code).toBe('conflict')
    expect((await lock.status()).body.code).toBe('no_such_lock')
  })

  it('leaves no lock behind if a part of it cannot be applied', async () => {
    const source = here.lock()
    await source.transacted([{ put: 'a', value: 1 }])
    const saved = await exported(source)
    let deep: unknown = 1
    for (let level = 0; level < 500; level++) deep = [deep]
    const lock = here.lock()
    // So much that the lock is there before the end of it is read.
    const good = Array.from({ length: 200 }, (_, index) => ({
      cell: `=${index}`,
      value: { value: 'x'.repeat(10_000), revision: 1 },
    }))
    const answer = await imported(lock, {
      ...saved,
      cells: [...good, { cell: '=a', value: { value: deep, revision: 1 } }],
    })
    expect([answer.status, answer.body.code]).toEqual([413, 'too_large'])
    expect((await lock.status()).body.code).toBe('no_such_lock')
    expectStatus(await imported(lock, saved), 201)
    expect(await lock.value('a')).toBe(1)
  })
})

itKeepsEveryPromise(here)
itKeepsEveryPromise(there)
