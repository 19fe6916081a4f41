/**
 * The suites as judges of mutants: one failure is enough. So the quickest files come first, and the first
 * test that fails ends all of it, whatever else a mutant makes run without end.
 */
import { statSync } from 'node:fs'
import { mergeConfig } from 'vitest/config'
import {
  BaseSequencer,
  type Reporter,
  type TestCase,
  type TestModule,
  type TestSpecification,
} from 'vitest/node'
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

class FirstFailure implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result()
    if (state === 'failed') fail(`${test.module.relativeModuleId} > ${test.fullName}`, errors)
  }

  onTestModuleEnd(module: TestModule): void {
    if (module.state() === 'failed') fail(`${module.relativeModuleId} > the file itself`, module.errors())
  }
}

function fail(where: string, errors: readonly { readonly message: string }[] = []): never {
  console.log(` FAIL  ${where}\n${errors.map(({ message }) => message).join('\n')}`)
  process.exit(1)
}

export default mergeConfig(project, {
  test: { reporters: [new FirstFailure()], sequence: { sequencer: QuickestFirst } },
})
