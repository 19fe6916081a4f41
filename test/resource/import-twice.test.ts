import { expect, it } from 'vitest'
import { finishOperation, partOperation } from '../../shared/resource/import.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { emptyReplica, invoke } from '../../shared/resource/replica.ts'

it('a client that says its operation again in the gap of an import does not end the lock for ever', () => {
  const replica = emptyReplica(keyValue)
  let sequence = 0
  const apply = (opId: string, operation: never) =>
    invoke(keyValue, replica, 3, { sequence: ++sequence, opId, operation })
  apply('o1', [{ increment: 'n' }] as never) // in the gap, on the empty lock
  const results = [{ opId: 'o1', sequence: 1, digest: 'd', result: { applied: true, results: [] } }]
  apply('import/u/0', partOperation(0, { cells: [['=n', { value: 41, revision: 1 }]], results }) as never)
  apply('import/u/1', finishOperation(1, 0) as never)
  expect(replica.order.length).toBe(Object.keys(replica.results).length)
  for (let more = 0; more < 5; more++) apply(`more-${more}`, [{ increment: 'n' }] as never)
})
