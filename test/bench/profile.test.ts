/** What the samples of a profile mean. */
import { expect, it } from 'vitest'
import { partTimes } from '../../bench/profile/parts.ts'
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

it('a part of the code is its folder, and what has no line in it is the runtime', () => {
  const at = (id: number, functionName: string, lineNumber: number) => ({
    id,
    callFrame: { functionName, lineNumber },
    children: id === 1 ? [2, 3, 4, 5, 6] : [],
  })
  const bundle = '// worker/router/router.ts\nserve()\n// shared/protocols/wme/log.ts\nappend()\n'
  const profile = {
    nodes: [
      ...[at(1, '(root)', -1), at(2, '(idle)', -1), at(3, 'exec', -1), at(4, 'fetch', -1)],
      ...[at(5, 'serve', 1), at(6, 'append', 3)],
    ],
    samples: [2, 3, 4, 5, 6],
    timeDeltas: [10, 20, 30, 40, 50],
  }
  expect(partTimes(profile, bundle, 10)).toEqual({
    ...{ waiting: 1, sqlite: 2, runtime: 3, router: 4, protocol: 5 },
    ...{ collector: 0, participant: 0 },
  })
})
