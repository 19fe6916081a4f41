/**
 * The TypeScript of the documentation compiles, as it would in a project that has Baton as a package. What
 * calls the service on this machine is run, too.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allPages, blocksOf, type Page, ROOT } from './markdown.ts'
import { PACKAGE, PACKAGE_PATHS } from './package-paths.ts'
import { LOCAL } from './registry.ts'
import { runCommands } from './shell.ts'
import { StartedService } from './started.ts'

const CONFIGURATION = {
  extends: '../../worker/tsconfig.json',
  compilerOptions: {
    // A snippet may show a value and leave its use to the reader.
    noUnusedLocals: false,
    types: ['@cloudflare/workers-types'],
    paths: Object.fromEntries(Object.entries(PACKAGE_PATHS).map(([name, path]) => [name, [path]])),
  },
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

/** A folder inside of the project, so that its packages are found. */
async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(join(ROOT, '.baton'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.baton/snippets-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function write(folder: string, snippets: readonly Snippet[]): void {
  for (const { file, text } of snippets) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    // A program that stands in the root of a clone names the project's files from there.
    const placed = text.replaceAll("from './shared/", "from '../../../shared/")
    // Without an import or an export a file is no module, and its names would be everybody's.
    writeFileSync(join(folder, file), `${placed}\nexport {}\n`)
  }
}

/** What the compiler says. */
const compile = (snippets: readonly Snippet[]): Promise<string> =>
  inFolder(async folder => {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIGURATION))
    write(folder, snippets)
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', folder], {
      encoding: 'utf8',
    })
    if (status === 0) return ''
    return (stdout + stderr).trim() || `the compiler ended with status ${status}`
  })

/** What a program says that ends in an error, or nothing. Each has locks of its own. */
const run = ({ file, text }: Snippet, url: string): Promise<string> =>
  inFolder(async folder => {
    write(folder, [{ file, text: text.replaceAll(LOCAL, url) }])
    const outfile = join(folder, 'bundled.mjs')
    await build({
      entryPoints: [join(folder, file)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      alias: PACKAGE_PATHS,
      logLevel: 'silent',
    })
    const [ran] = await runCommands([`'${process.execPath}' '${outfile}'`])
    return ran!.status === 0 ? '' : `${file} ended with status ${ran!.status}: ${ran!.errors}`
  })

const snippets = allPages().flatMap(snippetsOf)

describe('the TypeScript of the documentation', () => {
  it('is found', () => {
    const files = snippets.map(({ file }) => file)
    expect(files).toContain('docs-library-md/account.ts')
    expect(files.some(file => file.startsWith('README-md/'))).toBe(true)
  })

  it('compiles', async () => {
    expect(await compile(snippets)).toBe('')
  })

  it('would not compile with a mistake in it', async () => {
    const right = `import { createBaton } from '${PACKAGE}/client'\ncreateBaton({ url: 'https://example.com' })`
    const output = await compile([
      { file: 'right.ts', text: right },
      { file: 'member.ts', text: right.replace('url:', 'uri:') },
      { file: 'module.ts', text: right.replace('/client', '/clients') },
    ])
    expect(output).not.toContain('right.ts')
    expect(output).toMatch(/member\.ts.*'uri' does not exist/)
    expect(output).toMatch(/module\.ts.*clients/)
  })
})

describe('the TypeScript that calls the service here', () => {
  let service: StartedService
  beforeAll(async () => {
    service = await StartedService.start()
  }, 120_000)
  afterAll(async () => {
    await service?.stop()
  }, 120_000)

  it.each(snippets.filter(({ text }) => text.includes(LOCAL)))('runs: $file', async snippet => {
    expect(await run(snippet, service.url)).toBe('')
  })

  it('would be seen to fail', async () => {
    const text = `import { createBaton } from '${PACKAGE}/client'
      await createBaton({ url: '${LOCAL}' }).lock('none').get('x').then(() => { throw new Error('wrong') })`
    expect(await run({ file: 'wrong.ts', text }, service.url)).toMatch(/wrong|no_such_lock|NoSuch/)
  })
})
