/** Locks that follow their work: when they move, and where to (shared/api/following.ts). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { LockConfiguration, ParticipantPlace } from '../../shared/api/configuration.ts'
import { FOLLOWING, type Move, moveFor } from '../../shared/api/following.ts'
import { COORDINATES, nearestLocation } from '../../shared/api/geography.ts'
import type { Emitted } from '../../shared/protocols/protocol.ts'
import { Following } from '../../worker/participant/core/following.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { MemoryRows } from '../participant/memory-rows.ts'

const place = (id: number, location: string | null): ParticipantPlace => ({ id, location, url: null })
const PLACES = [place(1, 'weur'), place(2, 'enam'), place(3, 'apac')]
const work = (from: { readonly [location: string]: number }, grants: number) => ({
  from: new Map(Object.entries(from)),
  grants,
})

describe('a lock', () => {
  it.each<[what: string, from: { readonly [location: string]: number }, grants: number, move: Move | null]>([
    ['moves to where most grants are asked for', { oc: 40 }, 60, { replace: 1, location: 'oc' }],
    ['moves the one that is farthest', { wnam: 50 }, 60, { replace: 3, location: 'wnam' }],
    ['stays if half of them are', { oc: 30 }, 60, null],
    ['stays if there were few', { oc: FOLLOWING.leastGrants - 1 }, FOLLOWING.leastGrants - 1, null],
    ['stays if a participant is there', { apac: 60 }, 60, null],
    ['stays if one is as good as there', { me: 60 }, 60, null],
    ['stays if nobody asks', {}, 60, null],
  ])('%s', (_, from, grants, move) => {
    expect(moveFor(work(from, grants), PLACES, FOLLOWING)).toEqual(move)
  })

  it('stays if one of its participants may be anywhere', () => {
    expect(moveFor(work({ oc: 60 }, 60), [...PLACES, place(4, null)], FOLLOWING)).toBeNull()
  })
})

it('a client is nearest to the location that it is at', () => {
  expect(nearestLocation(COORDINATES.oc)).toBe('oc')
  expect(nearestLocation({ latitude: -37.8, longitude: 145 })).toBe('oc')
  expect(nearestLocation({ latitude: 48.9, longitude: 2.4 })).toBe('weur')
})

describe('a participant of a lock that follows its work', () => {
  const rules = { windowMs: 10_000, leastGrants: 4, everyMs: 60_000 }
  let now = 1_000_000
  let rows: MemoryRows
  let moves: Move[] = []
  let configuration: LockConfiguration

  const begin = () => {
    const storage = new Storage(rows, { eventsKept: 0 })
    const host = {
      storage,
      now: () => now,
      configuration: () => configuration,
      move: (move: Move) => moves.push(move),
    }
    return { storage, following: new Following(host, rules) }
  }

  const crit = (user: string): Emitted => ({
    ...{ type: 'crit', user, fence: 1, epoch: 1, sequence: 1, expiresAt: 0, confirmed: true },
  })
  const granted: Emitted = { type: 'granted', sequence: 1, fence: 1, to: 1 }
  const members: Emitted = { type: 'members', configuration: 1, members: {} }

  const step = (...emitted: Emitted[]) => ({ emitted, hasOtherMembers: false })

  const use = (following: Following, near: string | undefined) => {
    following.note('user', near)
    following.onStep(step(granted, crit('user')))
  }

  beforeEach(() => {
    rows = new MemoryRows()
    moves = []
    configuration = { participants: PLACES, follow: true } as unknown as LockConfiguration
  })

  it('moves once, and no second time before its time', () => {
    const { following, storage } = begin()
    for (let count = 0; count < 4; count++) use(following, 'oc')
    expect(moves).toEqual([{ replace: 1, location: 'oc' }])
    for (let count = 0; count < 4; count++) use(following, 'oc')
    expect(moves).toHaveLength(1)
    storage.commit()
    // Also not after the instance has ended.
    const again = begin().following
    now += rules.everyMs - 1
    for (let count = 0; count < 4; count++) use(again, 'oc')
    expect(moves).toHaveLength(1)
    now += 1
    use(again, 'oc')
    expect(moves).toHaveLength(2)
  })

  it('waits after every change of the members, whoever made it', () => {
    const { following } = begin()
    following.onStep({ ...step(members), hasOtherMembers: true })
    expect(following.changedAt).toBe(now)
    for (let count = 0; count < 8; count++) use(following, 'oc')
    expect(moves).toEqual([])
  })

  it('regression: counts nothing of a lock that was deleted for the next one of its name', () => {
    const { following } = begin()
    for (let count = 0; count < 3; count++) use(following, 'oc')
    following.onStep({ ...step(), endedAt: null })
    use(following, 'oc')
    expect(moves).toEqual([])
    for (let count = 0; count < 3; count++) use(following, 'oc')
    expect(moves).toHaveLength(1)
  })

  it('has moved when its members are others, not when that is asked for or heard of again', () => {
    const { following } = begin()
    for (let count = 0; count < 4; count++) use(following, 'oc')
    expect(moves).toHaveLength(1)
    expect(following.changedAt).toBeNull()
    const movedAt = now
    following.onStep({ ...step(members), hasOtherMembers: true })
    now += 1
    // An instance that begins hears of the members that it knows.
    following.onStep(step(members))
    expect(following.changedAt).toBe(movedAt)
  })

  it('forgets what was long ago, and what was asked for elsewhere counts too', () => {
    const { following } = begin()
    for (let count = 0; count < 3; count++) use(following, 'oc')
    now += rules.windowMs
    use(following, 'oc')
    expect(moves).toEqual([])
    for (let count = 0; count < 5; count++) following.onStep(step(granted))
    for (let count = 0; count < 3; count++) use(following, 'oc')
    expect(moves).toEqual([])
    for (let count = 0; count < 2; count++) use(following, 'oc')
    expect(moves).toHaveLength(1)
  })

  it('stays where it is unless it is to follow, or if nobody says where clients are', () => {
    const { following } = begin()
    for (let count = 0; count < 8; count++) use(following, undefined)
    for (let count = 0; count < 8; count++) use(following, 'moon')
    configuration = { ...configuration, follow: undefined } as unknown as LockConfiguration
    for (let count = 0; count < 8; count++) use(following, 'oc')
    expect(moves).toEqual([])
  })
})
