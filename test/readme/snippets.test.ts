/** The TypeScript of the documentation compiles, as it would in a project that has Baton as a package. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, blocksOf, type Page, ROOT } from './markdown.ts'

const CONFIGURATION = {
  extends: '../../worker/tsconfig.json',
  // A snippet may show a value and leave its use to the reader.
  compilerOptions: { noUnusedLocals: false },
  include: ['.'],
  exclude: [],
}

interface Snippet {
  readonly file: string
  readonly text: string
}

/** Each page has a folder. A line like "`account.ts`:" above a block names its file. */
function snippetsOf({ path, text }: Page): Snippet[] {
  const lines = text.split('\n')
  const folder = path.replaceAll(/[/.]/g, '-')
  return blocksOf(text)
    .filter(({ language }) => language === 'ts')
    .map(block => {
      const name = /^`([\w-]+\.ts)`:$/.exec(lines[block.line - 4] ?? '')?.[1]
      return { file: `${folder}/${name ?? `line-${block.line}.ts`}`, text: block.text }
    })
}

/** What the compiler says. The folder is inside of the project, where `baton/client` means this project. */
function compile(snippets: readonly Snippet[]): string {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'dist/snippets-'))
  try {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIGURATION))
    // Without an import or an export a file is no module, and its names would be everybody's.
    for (const { file, text } of snippets) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), `${text}\nexport {}\n`)
    }
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', folder], {
      encoding: 'utf8',
    })
    if (status === 0) return ''
    return (stdout + stderr).trim() || `the compiler ended with status ${status}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the TypeScript of the documentation', () => {
  const snippets = allPages().flatMap(snippetsOf)

  it('is found', () => {
    const files = snippets.map(({ file }) => file)
    expect(files).toContain('docs-library-md/account.ts')
    expect(files.some(file => file.startsWith('README-md/'))).toBe(true)
  })

  it('compiles', () => {
    expect(compile(snippets)).toBe('')
  })

  it('would not compile with a mistake in it', () => {
    const right =
      "import { createBaton } from '@baton-lock/baton/client'\ncreateBaton({ url: 'https://example.com' })"
    const output = compile([
      { file: 'right.ts', text: right },
      { file: 'member.ts', text: right.replace('url:', 'uri:') },
      { file: 'module.ts', text: right.replace('@baton-lock/baton/client', 'baton/clients') },
    ])
    expect(output).not.toContain('right.ts')
    expect(output).toMatch(/member\.ts.*'uri' does not exist/)
    expect(output).toMatch(/module\.ts.*baton\/clients/)
  })
})
