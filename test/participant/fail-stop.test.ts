/**
 * Regressions: a participant whose disk takes no more writes. It once gave the token away in memory,
 * acknowledged operations were lost, and fences were given twice. Now the instance is over before anything
 * leaves it, and the others go on without it.
 */
import { inspect } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import { MemoryPlatform } from './memory-platform.ts'
import { READ_ONLY } from './memory-rows.ts'

const ACQUIRE = { type: 'acquire', waitMs: 20_000, ttlMs: 30_000, ticket: false, confirm: false } as const

let platform: MemoryPlatform
let operations: number

beforeEach(() => {
  platform = new MemoryPlatform(3)
  operations = 0
})

interface Transacted {
  readonly fence: number
  readonly value: number
}

function increment(at: number, waitMs = 20_000): Promise<ParticipantAnswer> {
  const opId = `op-${++operations}`
  const call = { type: 'transact', user: opId, opId, ops: [{ increment: 'n' }], waitMs } as const
  return platform.during(platform.node(at).call(call))
}

function transacted(answer: ParticipantAnswer): Transacted {
  expect(answer).toMatchObject({ type: 'done', status: 200 })
  const { fence, results } = (answer as unknown as { body: { fence: number; results: { value: number }[] } })
    .body
  return { fence, value: results[0]!.value }
}

async function incremented(at: number, times: number): Promise<Transacted[]> {
  const done: Transacted[] = []
  for (let time = 0; time < times; time++) done.push(transacted(await increment(at)))
  return done
}

const numberIn = (answer: ParticipantAnswer): Json =>
  (answer as unknown as { body: { value: Json } }).body.value

/** A participant that is being taken back by the others says so, and is asked again. */
async function read(at: number): Promise<Json> {
  const call = { type: 'get', key: 'n', consistency: 'linearizable' } as const
  for (let attempt = 0; ; attempt++) {
    const answer = await platform.during(platform.node(at).call(call))
    if (answer.type === 'done' || attempt === 100) return numberIn(answer)
    await platform.advance(1_000)
  }
}

describe('the owner of the token, on a disk that has become read-only', () => {
  it('falls silent, others take over; no fence is given twice, no acknowledged op is lost', async () => {
    const owner = platform.node(1)
    const before = await incremented(1, 5)
    owner.rows.isReadOnly = true
    owner.journal.length = 0
    await expect(increment(1)).rejects.toThrow(READ_ONLY)
    expect(owner.journal).toEqual([])
    const after = await incremented(2, 5)
    expect(owner.journal).toEqual([])
    expect(owner.aborts).toBeGreaterThan(1)
    const fences = [...before, ...after].map(({ fence }) => fence)
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
    expect([...before, ...after].map(({ value }) => value)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    // The disk is mended: the participant comes back, and has what the others have.
    owner.rows.isReadOnly = false
    expect(await read(1)).toBe(10)
    expect(transacted(await increment(1)).value).toBe(11)
  })

  it('does not even answer a question that changes nothing: it does not know what it has lost', async () => {
    const owner = platform.node(1)
    await incremented(1, 1)
    owner.rows.isReadOnly = true
    await expect(increment(1)).rejects.toThrow(READ_ONLY)
    await expect(owner.call({ type: 'status' })).rejects.toThrow(READ_ONLY)
    await expect(owner.peer({ type: 'messages', from: 2, messages: [] })).rejects.toThrow(READ_ONLY)
  })

  it('tells neither its session nor its watchers of what it could not write', async () => {
    const owner = platform.node(1)
    const socket = await owner.session('someone')
    await owner.watch({
      write: text => owner.journal.push(`watch: ${text}`),
      unreadBytes: () => 0,
      fail: () => owner.journal.push('fail'),
    })
    owner.say(socket, { type: 'try' })
    await platform.settle()
    expect(owner.journal).toContain('socket: crit')
    owner.say(socket, { type: 'issue', opId: 'a', ops: [{ increment: 'n' }] })
    await platform.settle()
    expect(owner.journal).toContain('socket: outcome')
    expect(owner.journal.some(what => what.startsWith('watch: ') && what.includes('event: op'))).toBe(true)
    owner.rows.isReadOnly = true
    owner.journal.length = 0
    expect(() => owner.say(socket, { type: 'exit' })).toThrow(READ_ONLY)
    await platform.settle()
    expect(owner.journal).toEqual([])
  })
})

describe('an operation that is applied while nothing can be written', () => {
  const setAway = (isAway: boolean) => {
    for (const id of [2, 3]) platform.node(id).isAway = isAway
  }
  const told = (): string[] => platform.node(1).journal.filter(what => /^(?:socket|watch|answer)/.test(what))

  it('is told neither to watchers nor to its caller if another user gets in by it', async () => {
    const owner = platform.node(1)
    await incremented(1, 1)
    await owner.watch({
      write: text => owner.journal.push(`watch: ${text}`),
      unreadBytes: () => 0,
      fail: () => {},
    })
    setAway(true)
    const ops = [{ increment: 'n' }]
    const first = owner.call({ type: 'transact', user: 'a', opId: 'a', ops, waitMs: 20_000 })
    const second = owner.call({ ...ACQUIRE, user: 'b' })
    for (const call of [first, second]) call.catch(() => {})
    await platform.settle()
    setAway(false)
    owner.rows.isReadOnly = true
    owner.journal.length = 0
    await expect(platform.during(first)).rejects.toThrow(READ_ONLY)
    await expect(platform.during(second)).rejects.toThrow(READ_ONLY)
    expect(told()).toEqual([])
  })

  it('is told if nothing else comes with it, since a majority holds it, and it stays applied', async () => {
    const owner = platform.node(1)
    await incremented(1, 1)
    setAway(true)
    const answered = increment(1)
    answered.catch(() => {})
    await platform.settle()
    setAway(false)
    owner.rows.isReadOnly = true
    expect(transacted(await answered).value).toBe(2)
    // What waited could not be written: the instance is over, and the next one does it again.
    await platform.advance(1_000)
    expect(owner.aborts).toBeGreaterThan(0)
    owner.rows.isReadOnly = false
    expect(await read(1)).toBe(2)
    expect(transacted(await increment(1)).value).toBe(3)
  })
})

describe('a write that throws, whichever one of a turn', () => {
  it('leaves nothing of the turn, and nothing of it leaves', async () => {
    const owner = platform.node(1)
    await incremented(1, 2)
    await platform.advance(60_000)
    const dump = () =>
      inspect(owner.rows.tables, { depth: null, maxArrayLength: null, maxStringLength: null })
    let isTried = true
    let failures = 0
    for (let nth = 1; isTried; nth++) {
      // The next instance proves that it can write, with a write of its own that is not part of the turn.
      await owner.call({ type: 'status' })
      const before = dump()
      owner.journal.length = 0
      isTried = false
      let writes = 0
      owner.rows.beforeWrite = () => {
        if (++writes < nth) return
        owner.rows.beforeWrite = () => {}
        isTried = true
        failures++
        expect(owner.journal).toEqual([])
        throw new Error(`write ${nth} failed`)
      }
      const answer = owner.call({
        type: 'acquire',
        user: `user-${nth}`,
        waitMs: 0,
        ttlMs: null,
        ticket: false,
        confirm: false,
      })
      if (
        await answer.then(
          () => false,
          () => true,
        )
      ) {
        expect(owner.journal).toEqual([])
        expect(dump()).toBe(before)
      }
    }
    expect(failures).toBeGreaterThan(1)
    await platform.advance(60_000)
    expect(await read(2)).toBe(2)
  })
})

describe('a participant on a disk that was read-only from the beginning', () => {
  it('takes no part, and the others are born without it', async () => {
    platform.node(3).rows.isReadOnly = true
    expect((await incremented(1, 3)).at(-1)!.value).toBe(3)
    expect(platform.node(3).journal).toEqual([])
    platform.node(3).rows.isReadOnly = false
    expect(await read(3)).toBe(3)
  })
})
