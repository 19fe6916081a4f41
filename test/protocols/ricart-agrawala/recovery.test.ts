/** A node stops between any two effects of any step of a cycle and comes back with what it saved. */
import { describe, expect, it } from 'vitest'
import type { ProtocolOptions } from '../../../shared/protocols/protocol.ts'
import { Cluster } from './cluster.ts'

/** One user at each node wants in once. Whatever is lost in a crash, the user says again. */
function playCycle(cluster: Cluster, participants: number): void {
  const open = new Set(Array.from({ length: participants }, (_, index) => index + 1))
  const users = [...open]
  for (let round = 0; open.size > 0; round++) {
    if (round > 100) throw new Error('somebody is never served')
    for (const node of users) if (!cluster.isUp(node)) cluster.start(node)
    for (const node of open) {
      if (!cluster.isUp(node)) continue
      const { holders, waiters } = cluster.state(node).durable.localQueue
      if (holders.length > 0) {
        const said = cluster.exit(node)
        if (said.some(({ type }) => type === 'rem')) open.delete(node)
      } else if (
        waiters.length === 0 &&
        cluster.grants.all.every(({ participant }) => participant !== node)
      ) {
        cluster.try(node)
      } else if (waiters.length === 0) open.delete(node)
    }
    cluster.deliver()
    if (cluster.inside().length === 0) cluster.run(300)
  }
  for (const node of users) if (!cluster.isUp(node)) cluster.start(node)
  cluster.run(20_000)
}

function crashEverywhere(participants: number, options?: ProtocolOptions): number {
  const create = () => new Cluster({ participants, localHandoffs: 0, ...(options && { options }) })
  let cuts = 0
  for (let step = participants + 1; ; step++) {
    for (let effects = 0; ; effects++) {
      const cluster = create()
      cluster.plannedCrash = { step, effects }
      try {
        playCycle(cluster, participants)
      } catch (error) {
        throw new Error(`cut after ${effects} effects of step ${step}`, { cause: error })
      }
      if (cluster.effectsOfCrashedStep === null) return cuts
      cuts++
      for (let node = 1; node <= participants; node++) expect(cluster.timers(node)).toEqual([])
      expect(cluster.grants.all.map(({ participant }) => participant).sort()).toEqual(
        Array.from({ length: participants }, (_, index) => index + 1),
      )
      if (effects >= cluster.effectsOfCrashedStep) break
    }
  }
}

describe('a crash between any two effects', () => {
  it('of two nodes', () => expect(crashEverywhere(2)).toBeGreaterThan(20))
  it('of three nodes', () => expect(crashEverywhere(3)).toBeGreaterThan(50))
  it('of three nodes on a ring that waits', () =>
    expect(crashEverywhere(3, { ring: 'waiting' })).toBeGreaterThan(50))
  it('of three nodes on a ring that marks', () =>
    expect(crashEverywhere(3, { ring: 'marking' })).toBeGreaterThan(50))
  it('of three nodes with bounded numbers', () =>
    expect(crashEverywhere(3, { modulus: 5 })).toBeGreaterThan(50))
})

describe('a node that comes back', () => {
  it('still knows that it is inside, and defers', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 0 })
    cluster.try(1)
    cluster.deliver()
    cluster.crash(1)
    cluster.try(2)
    cluster.start(1)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
    cluster.exit(1)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('still knows that it requests, with its number, and asks for the answers that it lost', () => {
    const cluster = new Cluster({ participants: 3, localHandoffs: 0 })
    cluster.try(1)
    cluster.lose(() => true)
    cluster.crash(1)
    cluster.lose(() => false)
    cluster.start(1)
    expect(cluster.state(1).durable.own).toMatchObject({ phase: 'requesting', request: 1 })
    cluster.try(2)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
  })

  it('still owes the REPLYs that it deferred', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 0 })
    cluster.try(1)
    cluster.deliver()
    cluster.try(2)
    cluster.deliver()
    cluster.crash(1)
    cluster.start(1)
    expect(cluster.state(1).durable.deferred).toMatchObject({ 2: { request: 2 } })
    cluster.exit(1)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('does not choose a number that it has replied to, or used, before', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 0 })
    cluster.try(2)
    cluster.deliver()
    cluster.crash(1)
    cluster.start(1)
    cluster.try(1)
    expect(cluster.state(1).durable.own.request).toBe(2)
    cluster.user(1, { type: 'withdraw', user: 'u' })
    cluster.crash(1)
    cluster.start(1)
    cluster.try(1)
    expect(cluster.state(1).durable.own.request).toBe(3)
  })

  it('takes no part if its storage is gone, but answers', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 0 })
    cluster.wipe(1)
    cluster.start(1)
    expect(cluster.try(1)).toEqual([
      { type: 'refused', user: 'u', event: 'try', refusal: { code: 'not-a-member' } },
    ])
    expect(cluster.view(1)).toMatchObject({ membership: 'joining', phase: 'joining' })
    cluster.try(2)
    cluster.deliver(({ message }) => message.body.type !== 'join')
    expect(cluster.inside()).toEqual(['2:u'])
  })
})
