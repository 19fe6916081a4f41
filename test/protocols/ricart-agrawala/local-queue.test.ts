/** Many users at one node: who follows whom, how grants end, what is refused. */
import { describe, expect, it } from 'vitest'
import { fenceOf, GRANTS_PER_REQUEST, NAMES } from '../../../shared/protocols/ricart-agrawala/fence.ts'
import { Cluster } from './cluster.ts'

describe('local users', () => {
  it('follow each other a limited number of times while another node waits', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 2 })
    for (const user of ['a', 'b', 'c', 'd']) cluster.try(1, user)
    cluster.deliver()
    cluster.try(2, 'x')
    cluster.deliver()
    const order: string[] = []
    for (let entry = 0; entry < 5; entry++) {
      const [name] = cluster.inside()
      order.push(name!)
      cluster.exit(Number(name![0]), name!.slice(2))
      cluster.deliver()
    }
    expect(order).toEqual(['1:a', '1:b', '1:c', '2:x', '1:d'])
  })

  it('a request has a limited number of grants; then the node asks again', () => {
    const cluster = new Cluster({ participants: 2 })
    for (let user = 0; user <= GRANTS_PER_REQUEST; user++) cluster.try(1, `u${user}`)
    cluster.deliver()
    for (let user = 0; user < GRANTS_PER_REQUEST; user++) cluster.exit(1, `u${user}`)
    expect(cluster.inside()).toEqual([])
    expect(cluster.state(1).durable.own).toMatchObject({ phase: 'requesting', request: 2 })
    cluster.deliver()
    expect(cluster.inside()).toEqual([`1:u${GRANTS_PER_REQUEST}`])
  })

  it('a user that neither leaves nor keeps its grant alive is ejected, and the next one enters', () => {
    const cluster = new Cluster({ participants: 2 })
    cluster.try(1, 'u', { ttlMs: 1_000 })
    cluster.deliver()
    cluster.try(2)
    cluster.run(999)
    expect(cluster.inside()).toEqual(['1:u'])
    cluster.run(1)
    expect(cluster.inside()).toEqual(['2:u'])
    expect(cluster.emitted).toContainEqual({
      participant: 1,
      event: expect.objectContaining({ type: 'ejected', reason: 'expired' }),
    })
  })

  it('operators force out any user that is inside, wherever it is', () => {
    const cluster = new Cluster({ participants: 3 })
    cluster.try(1)
    cluster.deliver()
    cluster.try(2)
    cluster.user(3, { type: 'eject', request: 'e' })
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
    expect(cluster.emitted).toContainEqual({
      participant: 3,
      event: { type: 'eject-done', request: 'e', epoch: 0 },
    })
    expect(cluster.timers(3)).toEqual([])
  })
})

describe('the view', () => {
  it('says what the node does, who waits and who is inside', () => {
    const cluster = new Cluster({ participants: 2 })
    expect(cluster.view(1)).toMatchObject({ membership: 'member', phase: 'idle', owner: null, sequence: 0 })
    cluster.try(1)
    expect(cluster.view(1)).toMatchObject({ phase: 'requesting', waiters: [{ user: 'u' }], holders: [] })
    cluster.deliver()
    const { fence } = cluster.grants.all[0]!
    expect(cluster.view(1)).toMatchObject({ phase: 'inside', owner: 1, sequence: fence, cells: null })
    expect(cluster.view(1).holders).toMatchObject([{ user: 'u', fence }])
    expect(cluster.view(2).owner).toBeNull()
  })

  it('names the nodes that were asked whether they are there, and were silent', () => {
    const cluster = new Cluster({ participants: 3 })
    cluster.crash(3)
    cluster.try(1)
    cluster.run(1_000)
    expect(cluster.view(1).suspects).toEqual([3])
    cluster.start(3)
    cluster.run(10_000)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.view(1).suspects).toEqual([])
  })
})

describe('fences', () => {
  it('are ordered by number, name, and place under the request, and are safe integers', () => {
    const places: [number, number, number][] = []
    for (const request of [1, 2, 2 ** 36])
      for (const name of [1, 2, NAMES - 1])
        for (const grant of [0, 1, GRANTS_PER_REQUEST - 1]) places.push([request, name, grant])
    const fences = places.map(place => fenceOf(...place))
    expect(fences).toEqual([...fences].sort((a, b) => a - b))
    expect(new Set(fences).size).toBe(places.length)
    expect(fences.every(Number.isSafeInteger)).toBe(true)
  })

  it('end before they are no safe integers any more', () => {
    expect(() => fenceOf(2 ** 37, 1, 0)).toThrow('used up')
  })

  it('grow across a wiped node that was inside, though it alone knew its last grants', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 5 })
    for (const user of ['a', 'b', 'c']) cluster.try(1, user)
    cluster.deliver()
    cluster.exit(1, 'a')
    cluster.exit(1, 'b')
    const last = cluster.grants.all.at(-1)!.fence
    cluster.wipe(1)
    cluster.try(2, 'x')
    cluster.start(1)
    cluster.run(5_000)
    expect(cluster.inside()).toEqual(['2:x'])
    expect(cluster.grants.all.at(-1)!.fence).toBeGreaterThan(last)
  })
})
