/** The program in docs/writing-an-interpreter.md runs, and prints what the page says. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocksOf, pageAt, ROOT } from './markdown.ts'

const blocks = blocksOf(pageAt('docs/writing-an-interpreter.md').text)
const blockOf = (language: string): string => blocks.find(block => block.language === language)!.text

/** A folder in the project stands for its root: the program names the files of the project from there. */
function run(program: string): { readonly output: string; readonly errors: string } {
  mkdirSync(join(ROOT, '.baton'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.baton/host-'))
  try {
    const file = join(folder, 'host.ts')
    writeFileSync(file, program.replaceAll("from './shared/", "from '../../shared/"))
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    return { output: stdout.trim(), errors: stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('docs/writing-an-interpreter.md', () => {
  it('shows a host that prints what the page says', () => {
    const { output, errors } = run(blockOf('ts'))
    expect(output).toBe(blockOf('text'))
    expect(errors).not.toContain('stops:')
  })

  it('would be seen to be wrong if the host forgot what it saves', () => {
    const forgetful = blockOf('ts').replace('else this.storage.set(key, value)', 'else void value')
    expect(forgetful).not.toBe(blockOf('ts'))
    expect(run(forgetful).output).not.toBe(blockOf('text'))
  })

  it('shows a host that stops a participant in which something impossible happened', () => {
    const broken = blockOf('ts').replace(
      'host(1).crash()',
      "host(1).step({ type: 'message', now, from: 2, message: null! })",
    )
    const { errors, output } = run(broken)
    expect(errors).toContain('participant 1 stops:')
    expect(output).toContain('participant 2: crit')
  })
})
