/** etcd and ZooKeeper are asked for a lock as they want to be asked. Stand-ins answer for them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Locking, lockCases, movingCases } from '../../bench/cases/lock-cases.ts'
import { etcdLocks } from '../../bench/peers/etcd.ts'
import { startEtcd, startZooKeeper } from '../../bench/peers/start.ts'
import { type ZooKeeperLocks, zooKeeperLocks } from '../../bench/peers/zookeeper.ts'
import { Frames, Reader, Writer } from '../../bench/peers/zookeeper-wire.ts'
import { FakeEtcd } from './fake-etcd.ts'
import { FakeZooKeeper } from './fake-zookeeper.ts'

/** At most one client is inside at any time, and all of them get in. */
async function expectExclusive<Grant>({ acquire, write, release }: Locking<Grant>): Promise<void> {
  let inside = 0
  let most = 0
  let entered = 0
  const client = async (at: number) => {
    const grant = await acquire('contended', at)
    most = Math.max(most, ++inside)
    await write('contended', grant)
    inside--
    entered++
    await release('contended', grant)
  }
  await Promise.all(Array.from({ length: 12 }, (_, index) => client((index % 3) + 1)))
  expect([most, entered]).toEqual([1, 12])
}

async function expectCases<Grant>(service: Locking<Grant>): Promise<void> {
  const cases = { ...lockCases(service, 'bench', 3), ...movingCases(service, 'bench', 3) }
  for (const measured of Object.values(cases)) {
    await measured.prepare?.()
    expect((await measured.run(1)).length).toBeGreaterThan(0)
    await measured.finish?.()
  }
}

describe('etcd', () => {
  const etcd = new FakeEtcd()
  let service: ReturnType<typeof etcdLocks>
  beforeAll(async () => {
    const url = await etcd.listen()
    service = etcdLocks([url, url, url])
  })
  afterAll(() => etcd.close())

  it('lets one client in at a time', () => expectExclusive(service))

  it('does all cases of a lock service', () => expectCases(service))

  it('gives each client that is there at the same time a lease, and keeps it', async () => {
    const before = etcd.leases.length
    for (let count = 0; count < 5; count++) await service.release('kept', await service.acquire('kept'))
    expect(etcd.leases.length).toBe(before)
  })

  it('refuses a write when the lock is lost, and none when it is held', async () => {
    const grant = await service.acquire('lost')
    await service.write('lost', grant)
    // Not below the lock's own name, where it would count as somebody who waits for the lock.
    expect(etcd.puts.at(-1)![0]).toBe('state/lost')
    await service.release('lost', grant)
    await expect(service.write('lost', grant)).rejects.toThrow('not held any more')
  })

  it('is left out where it is not installed', async () => {
    process.env.ETCD = 'no-such-program'
    try {
      expect(await startEtcd()).toBe(null)
    } finally {
      delete process.env.ETCD
    }
  })
})

describe('ZooKeeper', () => {
  const zooKeeper = new FakeZooKeeper()
  let service: ZooKeeperLocks
  beforeAll(async () => {
    const port = await zooKeeper.listen()
    service = await zooKeeperLocks([port, port, port])
  })
  afterAll(() => {
    service.close()
    zooKeeper.close()
  })

  it('lets one client in at a time', () => expectExclusive(service))

  it('does all cases of a lock service', () => expectCases(service))

  it('leaves nothing behind but the folder of a lock, with its state', async () => {
    const grant = await service.acquire('left')
    expect(grant.node).toMatch(/^\/lock-left\/n-\d{10}$/)
    await service.write('left', grant)
    await service.release('left', grant)
    const left = [...zooKeeper.nodes].filter(([path]) => path.startsWith('/lock-left'))
    expect(left).toEqual([['/lock-left', expect.stringMatching(/^[\da-f-]{36}$/)]])
  })

  it('says which call was refused', async () => {
    const { client } = await service.acquire('refused')
    await expect(client.delete('/nothing')).rejects.toThrow('delete /nothing failed with code -101')
  })

  it('is left out where it is not installed', async () => {
    process.env.ZOOKEEPER_HOME = '/no/such/folder'
    try {
      expect(await startZooKeeper()).toBe(null)
    } finally {
      delete process.env.ZOOKEEPER_HOME
    }
  })
})

describe("ZooKeeper's messages", () => {
  it('are those of its documentation: lengths and numbers with the highest byte first', () => {
    const frame = new Writer().int(1).long(2n).bool(true).text('/a').frame()
    expect(frame.toString('hex')).toBe('00000013' + '00000001' + '0000000000000002' + '01' + '000000022f61')
    const reader = new Reader(frame.subarray(4))
    expect([reader.int(), reader.long(), reader.bool(), reader.text()]).toEqual([1, 2n, true, '/a'])
  })

  it('are whole, however they arrive', () => {
    const sent = Buffer.concat([new Writer().text('one').frame(), new Writer().text('two').frame()])
    const frames = new Frames()
    const arrived = [...sent].flatMap(byte => frames.add(Buffer.from([byte])))
    expect(arrived.map(frame => new Reader(frame).text())).toEqual(['one', 'two'])
    expect(new Frames().add(sent)).toHaveLength(2)
  })
})
