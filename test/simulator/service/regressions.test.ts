/** What the simulator has found, each as a run that failed before it was mended. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../../shared/birth/value.ts'
import { SMALL_LIMITS } from './plan.ts'
import { type Action, plainTransact } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'
import { runPlan, runService } from './run.ts'
import { planOf, type Scene, transacts } from './scenes.ts'
import type { Tampering } from './tampering.ts'

it('a transact whose client gives up leaves once, also where leaving takes a decision', async () => {
  const actions = Array.from({ length: 20 }, (_, index): Action => {
    const transact = plainTransact(1_000 + index, 500 * index, 'lock')
    return { ...transact, type: 'transact', abortAfterMs: 2 + index } as Action
  })
  for (let seed = 1; seed <= 4; seed++) {
    const { violation } = await runPlan(
      planOf({ seed, protocol: 'wme-consensus', actions, durationMs: 12_000 }),
    )
    expect(violation).toBeNull()
  }
})

it('a participant that begins anew because its process lost its ledger is recorded as empty', async () => {
  for (const participant of [1, 2, 3]) {
    const faults: Fault[] = [{ id: 1, at: 3_000, type: 'wipe-object', lock: '.ledger', participant }]
    // The process finds out when a new lock asks its ledger.
    const actions = [
      ...transacts(4, 1_000),
      plainTransact(1_050, 4_000, 'other'),
      ...transacts(9, 1_000).slice(5),
    ]
    const { violation, counts } = await runPlan(planOf({ actions, faults }))
    expect(violation).toBeNull()
    expect(counts.rejoins).toBeGreaterThan(0)
  }
})

it('three silent participants of seven that are asked first do not keep anybody from reading', async () => {
  const broken = [1, 2, 3].map(site => ({ site, how: 'cut off' }) as const)
  for (const kind of ['single', 'cluster'] as const) {
    const { violation } = await runPlan(
      planOf({ kind, sites: 7, actions: transacts(3, 500), durationMs: 2_000, broken }),
    )
    expect(violation).toBeNull()
  }
})

it('a watcher at a participant that gets a snapshot is told of everything', async () => {
  const watch = (id: number, at: number, forMs: number, since: number | null): Action => ({
    ...{ id, at, lock: 'lock', type: 'watch', forMs, since, participant: 3 },
  })
  const faults: Fault[] = [
    { id: 1, at: 1_000, type: 'one-way', site: 3, direction: 'deaf', routers: false, forMs: 4_000 },
  ]
  // One that stays, and one that comes back later to where it was.
  const others = [[watch(2_000, 500, 9_000, 0)], [watch(3_000, 500, 300, 0), watch(3_001, 7_000, 2_500, 2)]]
  const scene = { actions: transacts(30, 250), others, faults, limits: SMALL_LIMITS, durationMs: 10_000 }
  const { violation, counts } = await runPlan(planOf(scene))
  expect(violation).toBeNull()
  expect(counts.watchEvents).toBeGreaterThan(10)
})

/** A participant stays cut off, nobody has used any lock, and the router has another version's defaults. */
const UNUSED_AND_BROKEN: Scene = {
  ...{ kind: 'single', actions: [], durationMs: 2_000, broken: [{ site: 1, how: 'cut off' }] },
  faults: [{ id: 1, at: 1_000, type: 'restart-router', router: 0 }],
}

it('a lock that by its own defaults waits for all is not owed to a router that differs', async () => {
  const protocols = { protocol: 'ricart-agrawala', otherProtocol: 'wme-2' } as const
  const { violation, counts } = await runPlan(planOf({ ...UNUSED_AND_BROKEN, ...protocols }))
  expect(violation).toBeNull()
  expect(counts.locksDown).toBe(2)
})

it('a lock that by its own defaults a majority can serve is owed, whatever the router says', async () => {
  const protocols = { protocol: 'wme-2', otherProtocol: 'ricart-agrawala' } as const
  const { violation, counts } = await runPlan(planOf({ ...UNUSED_AND_BROKEN, ...protocols }))
  expect(violation).toBeNull()
  expect(counts.locksAlive).toBe(2)
})

it('a lock that two versions may give birth to is owed what the version owes that did', async () => {
  const faults: Fault[] = [{ id: 1, at: 1_000, type: 'deploy', site: 3, version: 1 }]
  for (const [protocol, otherProtocol] of [
    ['wme-2', 'maekawa'],
    ['maekawa', 'wme-2'],
  ] as const) {
    const { violation } = await runPlan(planOf({ ...UNUSED_AND_BROKEN, protocol, otherProtocol, faults }))
    expect(violation).toBeNull()
  }
})

it('a lock that is never born is found out, though it would wait for everybody once it was', async () => {
  const entries: Tampering['entries'] = real => ({
    ...real,
    // No vote is answered.
    peer: () => Promise.resolve(JSON.stringify({ type: 'messages', messages: [] })),
  })
  const plan = planOf({ ...UNUSED_AND_BROKEN, protocol: 'maekawa' })
  const { violation } = await runPlan(plan, { entries })
  expect(violation?.rule).toBe('progress')
})

it.each([
  ['single', 'lock', 1],
  ['single', 'other', 1],
  ['cluster', 'lock', 2],
  ['cluster', 'other', 2],
] as const)('G13 %s: a strict lock, and the first owner of %s is gone', async (kind, lock, alive) => {
  const used = lock === 'lock' ? 'other' : 'lock'
  const scene: Scene = {
    ...{ kind, protocol: 'wme-consensus', actions: [plainTransact(1_000, 500, used)], durationMs: 2_000 },
    broken: [{ site: firstOwnerOf(lock, 3), how: 'gone' }],
  }
  const { violation, counts } = await runPlan(planOf(scene))
  expect(violation).toBeNull()
  expect(counts.locksAlive).toBe(alive)
})

it('G13: nobody knows what a first owner that is gone had begun, and the others want it strict', async () => {
  const first = firstOwnerOf('lock', 3)
  const others = [1, 2, 3].filter(site => site !== first)
  const faults: Fault[] = [
    ...others.map((site): Fault => ({ id: site, at: 1_000, type: 'deploy', site, version: 1 })),
    { id: 4, at: 1_500, type: 'one-way', site: first, direction: 'deaf', routers: false, forMs: 20_000 },
    { id: 5, at: 1_500, type: 'one-way', site: first, direction: 'mute', routers: false, forMs: 20_000 },
  ]
  const hold: Action = {
    ...{ id: 1_000, at: 2_000, lock: 'lock', type: 'hold', mode: 'exclusive', participant: first },
    ...{ waitMs: 1_000, ttlMs: 30_000, confirm: false, operations: 0, thinkMs: 100, ending: 'vanish' },
    abortAfterMs: null,
  }
  const protocols = { protocol: 'wme-2', otherProtocol: 'maekawa' } as const
  const scene: Scene = { kind: 'single', ...protocols, actions: [hold], faults, durationMs: 4_000 }
  const { violation, counts } = await runPlan(planOf({ ...scene, broken: [{ site: first, how: 'gone' }] }))
  expect(violation).toBeNull()
  expect(counts.locksDown).toBe(1)
})

/** An operator ends a lock that guards no state by the one that holds it, which is gone afterwards. */
async function endAtHolder(forMs: number) {
  const holder = firstOwnerOf('lock', 3)
  const others = [1, 2, 3].filter(site => site !== holder)
  const faults = others.map(
    (site): Fault => ({
      ...{ id: site, at: 2_000, type: 'one-way', site, direction: 'deaf', routers: false, forMs },
    }),
  )
  const actions: Action[] = [
    { id: 1_000, at: 500, lock: 'lock', type: 'put', wish: { protocol: 'ricart-agrawala' } },
    {
      ...{ id: 1_001, at: 1_000, lock: 'lock', type: 'hold', mode: 'exclusive', participant: holder },
      ...{ waitMs: 1_000, ttlMs: 30_000, confirm: false, operations: 0, thinkMs: 100, ending: 'vanish' },
      abortAfterMs: null,
    },
    { id: 1_002, at: 2_500, lock: 'lock', type: 'delete', force: true, again: false },
  ]
  const broken = [{ site: holder, how: 'gone' }] as const
  return await runPlan(planOf({ kind: 'single', actions, faults, durationMs: 7_000, broken }))
}

it('nobody but a holder that is gone knows that a lock was deleted: it waits for that one', async () => {
  const { violation, counts } = await endAtHolder(20_000)
  expect(violation).toBeNull()
  // Nobody is told that it is deleted, either.
  expect([counts.deletes, counts.locksDown]).toEqual([0, 1])
})

it('the others have heard that a lock was deleted: the next one of its name is owed', async () => {
  const { violation, counts } = await endAtHolder(2_000)
  expect(violation).toBeNull()
  expect([counts.deletes, counts.locksAlive]).toEqual([1, 2])
})

it('a step that went with the storage of a deleted lock makes none of the next one count twice', async () => {
  const { violation } = await runService(30000219)
  expect(violation).toBeNull()
})

it.each([
  [90005378, 'a machine whose number another one has (ricart-agrawala) falls silent'],
  [94000198, 'newcomers of a lock that was made again are not those of the one before'],
  [93008907, 'a lock whose only participant is gone after it was deleted is found by routers that knew it'],
  [90009352, 'a lock that was made again and then moved (wme-consensus) is found by routers that knew it'],
  [240000276, 'a user that was told that it is not granted the lock is let into none that is born later'],
  [260002423, 'an ejection whose answer got lost is one, though another user has come in since'],
  [260004400, 'an ejection that was refused is not the one that the same operator asks for at once'],
  [280009316, 'a lock without a log that a majority does not know to be deleted is not said to be'],
  [
    280013928,
    'two of three have lost a lock that they knew to be deleted, and the third had not heard of it',
  ],
  [280005764, 'the only participant of a lock is lost, and it alone knew that the lock was deleted'],
  [240001220, 'a lock waits for a holder that is gone, and that alone knew that it was deleted'],
  [
    200003467,
    'a first owner of an earlier version begins no weak lock where others have made it strict (G13)',
  ],
  [240000775, 'who asks for longest has made the lock again, after one who asked later made it first'],
  [240000808, 'who was not answered until the lock was deleted has made it again'],
  [280006977, 'who watched a lock until it was deleted, and then the next one, hears of no holder of before'],
])('seed %i: %s', async seed => {
  expect((await runService(seed)).violation).toBeNull()
})
