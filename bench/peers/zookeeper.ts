/**
 * ZooKeeper as its recipe for locks says: each client makes a node with a number, the lowest number has the
 * lock, and everybody else watches the one before.
 */
import { randomUUID } from 'node:crypto'
import type { Locking } from '../cases/lock-cases.ts'
import { EPHEMERAL_SEQUENTIAL, ERRORS, ZooKeeperClient, type ZooKeeperError } from './zookeeper-client.ts'

export interface ZooKeeperGrant {
  readonly client: ZooKeeperClient
  readonly node: string
}

export interface ZooKeeperLocks extends Locking<ZooKeeperGrant> {
  close(): void
}

/** `ports` in the order of the servers; a client that names none is at the first. */
export async function zooKeeperLocks(ports: readonly number[]): Promise<ZooKeeperLocks> {
  const clients = await Promise.all(ports.map(port => ZooKeeperClient.connect(port)))
  const known = new Set<string>()
  const folderOf = async (client: ZooKeeperClient, lock: string): Promise<string> => {
    const folder = `/lock-${lock}`
    if (known.has(folder)) return folder
    await createIfMissing(client, folder)
    known.add(folder)
    return folder
  }
  return {
    acquire: async (lock, at = 1) => {
      const client = clients[(at - 1) % clients.length]!
      const folder = await folderOf(client, lock)
      const node = await client.create(`${folder}/n-`, EPHEMERAL_SEQUENTIAL)
      await untilFirst(client, folder, node)
      return { client, node }
    },
    /** The state lies in the lock's own node. */
    write: (lock, { client }) => client.setData(`/lock-${lock}`, randomUUID()),
    release: (_lock, { client, node }) => client.delete(node),
    close: () => {
      for (const client of clients) client.close()
    },
  }
}

async function createIfMissing(client: ZooKeeperClient, path: string): Promise<void> {
  try {
    await client.create(path)
  } catch (error) {
    if ((error as ZooKeeperError).code !== ERRORS.nodeExists) throw error
  }
}

async function untilFirst(client: ZooKeeperClient, folder: string, node: string): Promise<void> {
  const own = node.slice(folder.length + 1)
  for (;;) {
    // The number at the end has as many digits for everybody.
    const before = (await client.children(folder)).filter(other => other < own).sort()
    if (before.length === 0) return
    await client.untilGone(`${folder}/${before.at(-1)}`)
  }
}
