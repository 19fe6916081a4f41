/** The recipe of docs/testing.md, as it stands there, in a project that has what it says. */
import { expect, it } from 'vitest'
import { blocksOf, pageAt } from '../readme/markdown.ts'
import type { Packed, Project } from './project.ts'

/** A line like "`worker.js`:" above a block names its file. */
function writeBlocks(project: Project): string[] {
  const { text } = pageAt('docs/testing.md')
  const lines = text.split('\n')
  return blocksOf(text).flatMap(block => {
    const name = /^`([\w.-]+)`:$/.exec(lines[block.line - 4] ?? '')?.[1]
    if (name === undefined) return []
    project.write(name, block.text)
    return [name]
  })
}

export function itTestsAsDocumented(packed: () => Packed): void {
  it('has a recipe that works as it is written', () => {
    const project = packed().project('recipe', ['workerd', 'vitest', 'miniflare', 'esbuild'])
    expect(writeBlocks(project)).toEqual(['worker.js', 'worker.test.js', 'expiry.test.js'])
    const vitest = project.tool('vitest/vitest.mjs', 'run', 'worker.test.js')
    expect(vitest.status, vitest.output + vitest.errors).toBe(0)
    const inNode = project.node(['--test', 'expiry.test.js'])
    expect(inNode.status, inNode.output + inNode.errors).toBe(0)
    const spoilt = project.read('expiry.test.js').replace('next.fence > stalled', 'next.fence < stalled')
    project.write('spoilt.test.js', spoilt)
    const failed = project.node(['--test', 'spoilt.test.js'])
    expect(failed.status, 'a test that fails ends all the same').toBe(1)
  })
}
