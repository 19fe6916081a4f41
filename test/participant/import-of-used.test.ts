/** What a client was told of a lock that is being imported stays true, whatever its operation is called. */
import { expect, it } from 'vitest'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

async function importAfter(opId: string) {
  const platform = new MemoryPlatform(1)
  const node: MemoryNode = platform.node(1)
  const imported = { epoch: 7, sequence: 100 }
  const configuration = { ...platform.defaults(1), imported }
  await platform.during(node.call({ type: 'configure', configuration }))
  const ops = [{ increment: 'n' }]
  const told = await platform.during(node.call({ type: 'transact', user: 'u', opId, ops, waitMs: 0 }))
  expect(told).toMatchObject({ status: 200, body: { applied: true } })
  const entered = await platform.during(
    node.call({ type: 'acquire', user: 'import', waitMs: 0, ttlMs: 60_000, ticket: false, confirm: true }),
  )
  const { fence } = (entered as unknown as { body: { grant: { fence: number } } }).body.grant
  const part = { cells: [['=n', { value: 41, revision: 90 }]] as const, results: [] }
  return platform.during(
    node.call({ type: 'import', user: 'import', fence, number: 0, part, droppedThrough: 0 }),
  )
}

it.each(['mine', 'import/mine'])('a lock that was used with the opId %s is not imported over', async opId => {
  expect(await importAfter(opId)).toMatchObject({ type: 'problem', code: 'conflict' })
})
