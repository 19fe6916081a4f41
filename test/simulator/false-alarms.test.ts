/** Runs in which the simulator was wrong, and not the protocol: one of its users, or one of its judges. */
import { expect, it } from 'vitest'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { OPTIONS } from './fixtures.ts'
import { runSeed } from './run.ts'

it.each<[protocol: ProtocolName, participants: number, seed: number, what: string]>([
  ['wme-1', 2, 21000662, 'a user takes a grant that it has declined, because it is told of it twice'],
  ['wme-1', 7, 21000325, 'it is called calm from the beginning, though a participant died as it was born'],
])('regression: %s with %i participants, seed %i: %s', (protocol, participants, seed) => {
  expect(runSeed({ ...OPTIONS, protocol, participants }, seed).violation).toBeNull()
})
