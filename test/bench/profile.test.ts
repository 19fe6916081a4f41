/** What the samples of a profile mean. */
import { expect, it } from 'vitest'
import { timesOf } from '../../bench/profile/profile.ts'

const node = (id: number, functionName: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, lineNumber: id },
  children,
})

it('counts a function in itself, and with what it calls; one that calls itself counts once', () => {
  const recursive = { ...node(2, 'walk', [3]), callFrame: { functionName: 'walk', lineNumber: 9 } }
  const again = { ...node(3, 'walk', [4]), callFrame: { functionName: 'walk', lineNumber: 9 } }
  const profile = {
    nodes: [node(1, '(root)', [2]), recursive, again, node(4, '')],
    samples: [2, 3, 4, 4],
    timeDeltas: [10, 20, 30, 40],
  }
  expect(timesOf(profile, 10)).toEqual([
    { name: '(root):2', self: 0, total: 10 },
    { name: 'walk:10', self: 3, total: 10 },
    { name: '(anonymous):5', self: 7, total: 7 },
  ])
})
