/** Names of the code that pages for contributors mention are still names of the code. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pageAt, proseOf, ROOT } from './markdown.ts'

const PAGES = [
  'docs/protocol.md',
  'docs/specification.md',
  'docs/writing-an-interpreter.md',
  'docs/birth.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
]

const FOLDERS = [
  'shared',
  'worker',
  'client',
  'test',
  'bench',
  'docs',
  'examples',
  'page',
  'recipes',
  'cli',
  'testing',
]

const files = FOLDERS.flatMap(folder =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => `/${folder}/${file.replaceAll('\\', '/')}`),
)
// The tests of these pages would find what they look for in themselves.
const sources = files.filter(file => !file.startsWith('/test/readme/'))
const words = new Set(
  sources.flatMap(file => readFileSync(join(ROOT, file), 'utf8').match(/[A-Za-z_$][\w$]*/g) ?? []),
)

/** Single names in code marks, such as `logKept` or `epoch.sealed`; each part must be a name of the code. */
function unknownNames(text: string): string[] {
  const marked = [...proseOf(text).matchAll(/`([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)`/g)].map(([, name]) => name!)
  return marked.filter(name => !isFile(name)).filter(name => !name.split('.').every(part => words.has(part)))
}

const isFile = (name: string): boolean => name.endsWith('.ts')

/** Files that are named without their folder, or with a part of it. */
function unknownFiles(text: string): string[] {
  const marked = [...proseOf(text).matchAll(/`((?:[\w-]+\/)*[\w-]+\.ts)`/g)].map(([, name]) => name!)
  return marked.filter(name => !files.some(file => file.endsWith(`/${name}`)))
}

describe.each(PAGES)('%s', path => {
  const { text } = pageAt(path)

  it('mentions names that the code has', () => {
    expect(unknownNames(text)).toEqual([])
  })

  it('mentions files that are there', () => {
    expect(unknownFiles(text)).toEqual([])
  })
})

/** The names of the members of an interface. */
function membersOf(name: string, text: string): string[] {
  const [, body] = new RegExp(`interface ${name}<[^{]*\\{\n(.*?)^\\}`, 'ms').exec(text)!
  return [...body!.matchAll(/^ {2}(\w+)\(/gm)].map(([, member]) => member!)
}

it('the interface in ARCHITECTURE.md has members of the real one', () => {
  const shown = membersOf('Protocol', pageAt('ARCHITECTURE.md').text)
  expect(shown).toHaveLength(2)
  expect(membersOf('Protocol', pageAt('shared/protocols/protocol.ts').text)).toEqual(
    expect.arrayContaining(shown),
  )
})

describe('these tests', () => {
  it('find a name and a file that are not there', () => {
    expect(unknownNames('`logKept`, `logKeptt`, `epoch.sealed`, `epoch.sealedd`')).toEqual([
      'logKeptt',
      'epoch.sealedd',
    ])
    expect(unknownFiles('`figure-1-normal-phase.ts` and `figure-9.ts`')).toEqual(['figure-9.ts'])
  })
})
