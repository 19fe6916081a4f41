/** The suites as judges of mutants: one failure is enough, so the quickest files come first. */
import { statSync } from 'node:fs'
import { mergeConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import project from '../../vitest.config.ts'

class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timed = files.map(file => ({ file, ...this.#timeOf(file) }))
    timed.sort((a, b) => a.ms - b.ms || a.bytes - b.bytes)
    return timed.map(({ file }) => file)
  }

  /** A file that nobody has timed yet comes after the others, by its size. */
  #timeOf({ moduleId, project }: TestSpecification): { ms: number; bytes: number } {
    const path = moduleId.slice(this.ctx.config.root.length + 1)
    const known = this.ctx.cache.getFileTestResults(`${project.name}:${path}`)
    return { ms: known?.duration ?? Number.MAX_VALUE, bytes: statSync(moduleId).size }
  }
}

export default mergeConfig(project, { test: { sequence: { sequencer: QuickestFirst } } })
