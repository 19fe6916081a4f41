/** The operations that simulated users issue: conditions, counters and lists on a few shared keys. */

import type { Json } from '../../shared/json.ts'
import type { KeyValueOp } from '../../shared/resource/key-value.ts'
import type { Random } from './random.ts'

const KEYS = ['a', 'b', 'c'] as const

export function drawOperation(random: Random, sequence: number): Json {
  const ops: KeyValueOp[] = []
  const count = random.chance(0.8) ? 1 : random.between(2, 3)
  for (let index = 0; index < count; index++) ops.push(drawOp(random, sequence))
  // Every operation counts itself, so that a lost or repeated one shows in the state.
  if (random.chance(0.5)) ops.push({ increment: 'counter' })
  return ops as unknown as Json
}

function drawOp(random: Random, sequence: number): KeyValueOp {
  const key = random.pick(KEYS)
  switch (random.below(7)) {
    case 0:
      return { put: key, value: random.below(100) }
    case 1:
      // A condition that sometimes holds: the key's revision is the place of a recent operation.
      return { put: key, value: random.below(100), ifRevision: Math.max(0, sequence - random.below(12)) }
    case 2:
      return { delete: key }
    case 3:
      return { get: key }
    case 4:
      return { increment: key, by: random.between(-3, 3) }
    case 5:
      return { increment: 'counter' }
    default:
      return random.chance(0.2) ? { delete: 'list' } : { append: 'list', value: random.below(10) }
  }
}
