/**
 * Holds the dependency rule: `worker → shared ← test`, `client → client`, and everything in `shared/` depends
 * only on its arguments. A clock or a random number in there would make the simulator lie about the service,
 * so the rule is a test.
 *
 * The participant (`worker/participant/`) depends on its runtime alone; only its shell knows where it runs.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The source of every file, by its path from the root of the project, with `/`. */
type Files = ReadonlyMap<string, string>

/** Packages that shared code may use. They must be pure themselves. */
const ALLOWED_PACKAGES = new Set(['zod'])

/** Here a step is a step: nothing happens later, and no foreign code is used. */
const SYNCHRONOUS = ['shared/birth/', 'shared/protocols/', 'shared/resource/', 'shared/history/']

/** The client has a clock and a network, and uses only its own files and the types of `shared/`. */
const CLIENT = 'client/'

/**
 * It loads Node's own modules where they are, and names them in variables: for a bundler they are not there.
 */
const CLIENT_ON_NODE = 'client/node-web-socket.ts'
/** The one import of that file that is not static. */
const NODE_IMPORT = /\(await import\( *name\)\) as NodeHttp/

/** Names of clocks, randomness, I/O, the environment, and anything that differs between runtimes. */
const IMPURE_NAMES = (
  'Date performance Temporal setTimeout setInterval setImmediate queueMicrotask crypto fetch WebSocket XMLHttpRequest ' +
  'console process navigator globalThis global eval Function Intl Atomics WeakRef FinalizationRegistry'
).split(' ')
const LATER_NAMES = ['async', 'await', 'Promise']

const PARTICIPANT = 'worker/participant/'
/** The shell: it gives the participant what the platform has. */
const SHELL = 'worker/participant/durable-object.ts'
/**
 * What the platform has. A participant gets its time, its randomness and its connections from its runtime.
 */
const PLATFORM_NAMES = [
  ...IMPURE_NAMES.filter(name => name !== 'Date'),
  ...'scheduler Request Response Headers ReadableStream WebSocketPair DurableObject DurableObjectState caches'.split(
    ' ',
  ),
]

// ---------------------------------------------------------------- reading

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

interface Source {
  /**
   * Without comments; each string is its number in double quotes; what a template inserts is in parentheses.
   */
  readonly code: string
  readonly strings: readonly string[]
}

/** A regular expression does not follow a value, nor anything that can end one: `a++ / b`, `a! / b`. */
const BEFORE_A_REGULAR_EXPRESSION =
  /(?:^|[^\w$)\]}"]|\b(?:return|typeof|case|in|of|do|else|void|throw|delete))(?<!\+\+|--|[\w$)\]]!)$/
const REGULAR_EXPRESSION = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const COMMENT = /\/\/[^\n]*|\/\*.*?\*\//sy
const STRING = /'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"/sy
const TEMPLATE_TEXT = /(?:\\.|\$(?!\{)|[^`\\$])*/sy

/** Throws on what it does not understand: a file that cannot be read does not keep the rule. */
function read(text: string): Source {
  const strings: string[] = []
  let code = ''
  let at = 0
  /** For each template that is open, how many braces are open in what it inserts. */
  const templates: number[] = []

  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at += found[0].length
    return found
  }
  const addString = (content: string): void => {
    code += `"${strings.push(content) - 1}"`
  }
  const readTemplate = (): void => {
    addString(match(TEMPLATE_TEXT)![0])
    if (text[at] === '`') at++
    else if (text[at] === '$') {
      at += 2
      templates.push(0)
      code += '('
    } else throw new Error('a template does not end')
  }

  while (at < text.length) {
    const character = text[at]!
    if (character === '/') {
      if (match(COMMENT) !== null) code += ' '
      else if (BEFORE_A_REGULAR_EXPRESSION.test(code.trimEnd()) && match(REGULAR_EXPRESSION) !== null)
        code += '"0"'
      else if (text.startsWith('/*', at)) throw new Error('a comment does not end')
      else code += text[at++]
    } else if (character === "'" || character === '"') {
      const found = match(STRING)
      if (found === null) throw new Error('a string does not end')
      addString(found[1] ?? found[2]!)
    } else if (character === '`') {
      at++
      readTemplate()
    } else if (character === '}' && templates.at(-1) === 0) {
      at++
      templates.pop()
      code += ')'
      readTemplate()
    } else {
      if (templates.length > 0 && character === '{') templates[templates.length - 1]!++
      if (templates.length > 0 && character === '}') templates[templates.length - 1]!--
      code += character
      at++
    }
  }
  if (templates.length > 0) throw new Error('a template does not end')
  return { code, strings }
}

const STATIC_IMPORT =
  /\bimport\s+(?:(type)\s+(?!from\b))?(?:(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*\s*as\s+[\w$]+)?\s*from\s*)?"(\d+)"/g
const REEXPORT = /\bexport\s+(?:(type)\s+)?(?:\{[^}]*\}|\*(?:\s*as\s+[\w$]+)?)\s*from\s*"(\d+)"/g

function importsOf({ code, strings }: Source): Import[] {
  return [...code.matchAll(STATIC_IMPORT), ...code.matchAll(REEXPORT)].map(([, type, string]) => ({
    specifier: strings[Number(string)]!,
    typeOnly: type !== undefined,
  }))
}

/**
 * Where one of the names stands by itself: not as part of a longer name, and not as a property
 * (`user.process`).
 */
function mentions(code: string, names: readonly string[]): string[] {
  const pattern = new RegExp(`(?<![\\w$#])(?<!(?<!\\.)\\.\\s*)(?:${names.join('|')})(?![\\w$])`, 'g')
  return [...new Set(code.match(pattern) ?? [])]
}

// ---------------------------------------------------------------- the rule

/** Every violation as `file: what`. */
function violations(files: Files): string[] {
  const found: string[] = []
  const graph = new Map<string, string[]>()
  for (const [file, text] of files) {
    const source = read(text)
    const imports = importsOf(source)
    for (const problem of [
      ...codeProblems(file, source.code),
      ...imports.flatMap(one => importProblems(file, one)),
    ]) {
      found.push(`${file}: ${problem}`)
    }
    const values = imports.filter(one => !one.typeOnly && one.specifier.startsWith('.'))
    graph.set(
      file,
      values.map(one => resolve(file, one.specifier)),
    )
  }
  return [...found, ...cycles(graph).map(cycle => `${cycle[0]}: imports itself: ${cycle.join(' → ')}`)]
}

function isIn(file: string, folders: readonly string[]): boolean {
  return folders.some(folder => file.startsWith(folder))
}

function codeProblems(file: string, code: string): string[] {
  const problems: string[] = []
  const withoutImports = code.replaceAll(STATIC_IMPORT, '')
  if (isIn(file, [PARTICIPANT])) return file === SHELL ? [] : participantProblems(withoutImports)
  const isOnNode = file === CLIENT_ON_NODE
  const others = isOnNode ? withoutImports.replace(NODE_IMPORT, '') : withoutImports
  if (mentions(others, ['import', 'require']).length > 0) problems.push('an import that is not static')
  if (isIn(file, SYNCHRONOUS)) problems.push(...mentions(code, LATER_NAMES))
  if (isIn(file, [CLIENT])) return problems
  problems.push(...mentions(withoutImports, IMPURE_NAMES))
  if (/\bMath\s*\??\.\s*random\b/.test(code)) problems.push('Math.random')
  if (/\bMath\b(?!\s*\.\s*[\w$])/.test(code)) problems.push('Math other than by name')
  if (/\.\s*(?:localeCompare|toLocale\w+)\b/.test(code)) problems.push('what depends on the locale')
  return problems
}

function participantProblems(code: string): string[] {
  const problems = mentions(code, PLATFORM_NAMES)
  if (/\bMath\s*\??\.\s*random\b/.test(code)) problems.push('Math.random')
  if (/\bAbortSignal\s*\??\.\s*\w/.test(code)) problems.push('a signal of its own')
  // A date may be made from a known time.
  if (/\bDate\b(?<!\bnew\s+Date)|\bnew\s+Date\b(?!\s*\(\s*[^\s)])/.test(code)) problems.push('a clock')
  return problems
}

function resolve(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier)
}

function importProblems(file: string, { specifier, typeOnly }: Import): string[] {
  if (isIn(file, [PARTICIPANT])) return file === SHELL ? [] : participantImportProblems(file, specifier)
  if (!specifier.startsWith('.')) {
    const isAllowed = ALLOWED_PACKAGES.has(specifier) && !isIn(file, [...SYNCHRONOUS, CLIENT])
    return isAllowed ? [] : [`imports ${specifier}`]
  }
  const target = resolve(file, specifier)
  if (isIn(file, [CLIENT])) return clientImportProblems(target, typeOnly)
  if (!target.startsWith('shared/')) return [`imports ${target}`]
  const [own, other] = [protocolOf(file), protocolOf(target)]
  return own !== undefined && other !== undefined && own !== other ? [`imports the protocol ${other}`] : []
}

function clientImportProblems(target: string, typeOnly: boolean): string[] {
  const isAllowed = isIn(target, [CLIENT]) || (typeOnly && isIn(target, ['shared/']))
  return isAllowed ? [] : [`imports ${target}`]
}

function participantImportProblems(file: string, specifier: string): string[] {
  if (!specifier.startsWith('.')) return [`imports ${specifier}`]
  const target = resolve(file, specifier)
  const isOwn = isIn(target, ['shared/', PARTICIPANT]) && target !== SHELL
  return isOwn ? [] : [`imports ${target}`]
}

/** What protocols with guarded state, those without, and those whose members change have in common. */
const COMMON = ['guarded', 'lock-only', 'members']

/** The folder of a protocol; files beside these folders, or in a common one, belong to all of them. */
function protocolOf(file: string): string | undefined {
  const folder = /^shared\/protocols\/([^/]+)\//.exec(file)?.[1]
  return folder !== undefined && COMMON.includes(folder) ? undefined : folder
}

/** One cycle through each file at which a walk comes back to where it has been. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file])
    if (path.includes(file) || done.has(file)) return
    for (const target of graph.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) walk(file, [])
  return found
}

// ---------------------------------------------------------------- the project

function filesIn(folder: string): Files {
  const root = join(import.meta.dirname, '..')
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const code = names.map(name => name.replaceAll('\\', '/')).filter(name => /\.[cm]?[jt]sx?$/.test(name))
  return new Map(code.map(name => [`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8')]))
}

describe('the files in worker/participant/', () => {
  const files = filesIn('worker/participant')

  it('keep the rule', () => {
    expect([...files.keys()]).toEqual(expect.arrayContaining([SHELL, 'worker/participant/participant.ts']))
    expect(violations(files)).toEqual([])
  })

  it('would be caught, each of them, with a clock at its end, but for the shell', () => {
    for (const [file, text] of files) {
      const late = new Map([[file, `${text}\nexport const late = Date.now()\n`]])
      expect(violations(late), file).toEqual(file === SHELL ? [] : [`${file}: a clock`])
    }
  })
})

describe('the files in shared/', () => {
  const files = filesIn('shared')

  it('keep the rule', () => {
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['shared/json.ts', 'shared/protocols/protocol.ts']),
    )
    expect(violations(files)).toEqual([])
  })

  it('would be caught, each of them, with a clock at its end', () => {
    for (const [file, text] of files) {
      const late = new Map([[file, `${text}\nexport const late = Date.now()\n`]])
      expect(violations(late), file).toContain(`${file}: Date`)
    }
  })
})

describe('the files in client/', () => {
  it('keep the rule', () => {
    const files = filesIn('client')
    expect([...files.keys()]).toContain('client/index.ts')
    expect(violations(files)).toEqual([])
  })
})

// ---------------------------------------------------------------- the rule itself

function judge(file: string, text: string): string[] {
  return violations(new Map([[file, text]])).map(violation => violation.slice(file.length + 2))
}

describe('the rule flags', () => {
  const step = 'shared/protocols/wme/step.ts'
  it.each([
    ['shared/a.ts', "import { DurableObject } from 'cloudflare:workers'", 'imports cloudflare:workers'],
    ['shared/a.ts', "import type { Fetcher } from '@cloudflare/types'", 'imports @cloudflare/types'],
    ['shared/a.ts', "import { Hono } from 'hono'", 'imports hono'],
    ['shared/a.ts', "import { cors } from 'hono/cors'", 'imports hono/cors'],
    ['shared/a.ts', "import fs, { type Stats } from 'node:fs'", 'imports node:fs'],
    ['shared/a.ts', 'import "fs"', 'imports fs'],
    ['shared/a.ts', "export * from 'fs/promises'", 'imports fs/promises'],
    ['shared/a.ts', "const x = 1\nimport * as os from\n  'os'", 'imports os'],
    ['shared/a.ts', "export { x } from '../worker/main.ts'", 'imports worker/main.ts'],
    ['shared/a/b.ts', "import { x } from '../../test/model.ts'", 'imports test/model.ts'],
    ['shared/a.ts', "export type { x } from '../../elsewhere.ts'", 'imports ../elsewhere.ts'],
    ['shared/a.ts', "import { x } from '../client/index.ts'", 'imports client/index.ts'],
    ['client/a.ts', "import type { x } from '../worker/main.ts'", 'imports worker/main.ts'],
    ['client/a.ts', "import { x } from '../shared/json.ts'", 'imports shared/json.ts'],
    ['client/a.ts', "import { z } from 'zod'", 'imports zod'],
    ['client/a.ts', '(await import(name)) as NodeHttp', 'an import that is not static'],
    [CLIENT_ON_NODE, "import http from 'node:http'", 'imports node:http'],
    [CLIENT_ON_NODE, "const http = await import('node:http')", 'an import that is not static'],
    [CLIENT_ON_NODE, '(await import(name)) as NodeHttp\nawait import(name)', 'an import that is not static'],
    ['shared/resource/a.ts', "import { z } from 'zod'", 'imports zod'],
    [step, "import type { State } from '../other/state.ts'", 'imports the protocol other'],
    ['shared/a.ts', "const x = import('./b.ts')", 'an import that is not static'],
    ['shared/a.ts', "const x = require('./b.ts')", 'an import that is not static'],
    ['shared/a.ts', 'const url = import.meta.url', 'an import that is not static'],
    ['shared/a.ts', 'const now = Date.now()', 'Date'],
    ['shared/a.ts', 'const now = +new Date', 'Date'],
    ['shared/a.ts', 'const now = performance.now()', 'performance'],
    ['shared/a.ts', 'const { now } = performance', 'performance'],
    ['shared/a.ts', 'const x = Math.random()', 'Math.random'],
    ['shared/a.ts', "const x = Math['random']()", 'Math other than by name'],
    ['shared/a.ts', 'const { random } = Math', 'Math other than by name'],
    ['shared/a.ts', 'crypto.randomUUID()', 'crypto'],
    ['shared/a.ts', 'setTimeout(() => {}, 1)', 'setTimeout'],
    ['shared/a.ts', 'const all = { ...process.env }', 'process'],
    ['shared/a.ts', 'globalThis.x = 1', 'globalThis'],
    ['shared/a.ts', 'a.sort((b, c) => b.localeCompare(c))', 'what depends on the locale'],
    // Code may stand beside a comment, a string or a regular expression, or inside a template.
    ['shared/a.ts', "/* it's */ console.log('x')", 'console'],
    ['shared/a.ts', "const a = '//' + fetch('x')", 'fetch'],
    ['shared/a.ts', "const a = 'it\\'s' + fetch('x')", 'fetch'],
    ['shared/a.ts', 'const a = /[/"]/.test(b) || fetch(b)', 'fetch'],
    ['shared/a.ts', 'const a = b / 2 + fetch(c) / 2', 'fetch'],
    ['shared/a.ts', 'const a = b[0]! / 2 + fetch(c) / 2', 'fetch'],
    ['shared/a.ts', 'const a = b++ / 2 + fetch(c) / 2', 'fetch'],
    ['shared/a.ts', `const a = \`//\${ { b: \`\${fetch(c)}\` }.b }\``, 'fetch'],
    ['shared/a.ts', `const a = \`}\${b}\` + fetch(c)`, 'fetch'],
    [step, 'export async function step() {}', 'async'],
    [step, 'type Later = Promise<void>', 'Promise'],
    ['shared/history/a.ts', 'for await (const x of y) {}', 'await'],
    ['worker/participant/a.ts', 'const now = new Date()', 'a clock'],
    ['worker/participant/a.ts', 'const now = new Date', 'a clock'],
    ['worker/participant/a.ts', 'const { now } = Date', 'a clock'],
    ['worker/participant/a.ts', 'const x = Math.random()', 'Math.random'],
    ['worker/participant/a.ts', 'await scheduler.wait(1)', 'scheduler'],
    ['worker/participant/a.ts', 'setTimeout(run, 1)', 'setTimeout'],
    ['worker/participant/a.ts', 'crypto.randomUUID()', 'crypto'],
    ['worker/participant/a.ts', 'await fetch(x)', 'fetch'],
    ['worker/participant/a.ts', 'console.log(x)', 'console'],
    ['worker/participant/a.ts', 'return new Response(x)', 'Response'],
    ['worker/participant/a.ts', 'const limit = AbortSignal.timeout(1)', 'a signal of its own'],
    ['worker/participant/a.ts', "import { env } from 'cloudflare:workers'", 'imports cloudflare:workers'],
    ['worker/participant/a.ts', "import { x } from '../directory.ts'", 'imports worker/directory.ts'],
    ['worker/participant/a.ts', "import { x } from './durable-object.ts'", `imports ${SHELL}`],
    ['worker/participant/a.ts', "import { x } from '../../client/index.ts'", 'imports client/index.ts'],
  ])('%s: %s', (file, text, problem) => {
    expect(judge(file, text)).toContain(problem)
  })

  it.each(["const a = 'it", 'const a = `it', 'const a = `${b', '/* it'])('what it cannot read: %s', text => {
    expect(() => judge('shared/a.ts', text)).toThrow('does not end')
  })

  it('files that import each other, over any distance', () => {
    const files = new Map([
      ['shared/start.ts', "import { a } from './a.ts'"],
      ['shared/a.ts', "import { b } from './deep/b.ts'"],
      ['shared/deep/b.ts', "export { c } from '../c.ts'"],
      ['shared/c.ts', "import './a.ts'"],
    ])
    const path = 'shared/a.ts → shared/deep/b.ts → shared/c.ts → shared/a.ts'
    expect(violations(files)).toEqual([`shared/a.ts: imports itself: ${path}`])
  })
})

describe('the rule accepts', () => {
  it.each([
    ['shared/a.ts', '// Date.now() and Math.random()\n/* await fetch(x) */ const a = 1'],
    ['shared/a.ts', `const a = 'Date.now()' + "console.log" + \`Math.random \${1} process.exit\``],
    ['shared/a.ts', 'const a = /Date.now()/.test(b) && !/[/]await fetch/.test(b)'],
    ['shared/a.ts', 'const candidateDate = update.Date + user.process + input\n  .fetch + DateLike'],
    ['shared/a.ts', 'const a = Math.imul(1, 2) + Math.max(...b)'],
    ['shared/a.ts', "import { z } from 'zod'\nimport { b } from './b.ts'\nexport * as c from './deep/c.ts'"],
    ['shared/a.ts', 'export async function later() { await Promise.resolve() }'],
    ['client/a.ts', 'export const now = () => Date.now() + Math.random()'],
    ['client/a.ts', "import { a } from './b.ts'\nimport type { c } from '../shared/json.ts'"],
    [CLIENT_ON_NODE, 'const { request } = (await import(/* @vite-ignore */ name)) as NodeHttp'],
    ['shared/protocols/wme/step.ts', "import { a } from './a.ts'\nimport type { P } from '../protocol.ts'"],
    ['shared/protocols/maekawa/a.ts', "import { onTry } from '../lock-only/users.ts'"],
    ['shared/protocols/all.ts', "import { a } from './wme/step.ts'\nimport { b } from './other/step.ts'"],
    ['worker/participant/a.ts', 'export const iso = (ms: number) => new Date(ms).toISOString()'],
    [
      'worker/participant/a.ts',
      'async function hold(signal: AbortSignal | null) { await runtime.peers.ask(x) }',
    ],
    ['worker/participant/a.ts', "import { a } from './core/a.ts'\nimport { b } from '../../shared/json.ts'"],
    [SHELL, "import { DurableObject } from 'cloudflare:workers'\nconst now = Date.now() + Math.random()"],
  ])('%s: %s', (file, text) => {
    expect(judge(file, text)).toEqual([])
  })

  it('files that import each other for types alone', () => {
    const files = new Map([
      ['shared/a.ts', "import { b } from './b.ts'"],
      ['shared/b.ts', "import type { A } from './a.ts'\nexport type { B } from './a.ts'"],
    ])
    expect(violations(files)).toEqual([])
  })
})
