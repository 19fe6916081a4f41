/**
 * A project outside of this repository that has installed the package from what `npm pack` made. Nothing
 * comes from a registry: what the package needs, and what such a project has beside it, are linked from here.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const NAME = '@baton-lock/baton'

/** What a careful project asks of its compiler, of the declarations of its packages too. */
export const STRICT = {
  target: 'ES2022',
  lib: ['ES2022'],
  module: 'ESNext',
  moduleResolution: 'Bundler',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
}

/** For something that hangs; nothing here comes near it. */
const LIMIT_MS = 240_000

export interface Ran {
  readonly status: number | null
  readonly output: string
  readonly errors: string
}

export class Packed implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'baton-package-'))
  readonly tarball: string

  constructor() {
    const staging = join(this.folder, 'staging')
    mkdirSync(staging)
    for (const file of readdirSync(ROOT)) {
      if (/^(package\.json|README.*|LICEN[CS]E.*)$/.test(file)) cpSync(join(ROOT, file), join(staging, file))
    }
    const build = [
      '--import',
      String(new URL('../../scripts/typescript.mjs', import.meta.url)),
      'scripts/build.ts',
    ]
    succeed(run(ROOT, process.execPath, [...build, '--out', join(staging, 'dist')]))
    // Not in the repository: its own `dist` stays as it is.
    const { output } = succeed(run(staging, ...npm('pack', '--ignore-scripts', '--json')))
    this.tarball = join(staging, (JSON.parse(output) as [{ filename: string }])[0].filename)
  }

  /** The packages are linked beside ours: the ones that it depends on, and these. */
  project(name: string, packages: readonly string[] = []): Project {
    const folder = join(this.folder, name)
    mkdirSync(folder)
    const linked = ['hono', 'zod', ...packages].map(each => [
      each,
      `file:${join(ROOT, 'node_modules', each)}`,
    ])
    const dependencies = { ...Object.fromEntries(linked), [NAME]: `file:${this.tarball}` }
    const description = { name, private: true, type: 'module', dependencies }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(description))
    const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
    succeed(run(folder, ...npm('install', ...flags)))
    return new Project(folder)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

export class Project {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  get installed(): string {
    return join(this.folder, 'node_modules', NAME)
  }

  /** The files of the package, with `/` between folders. */
  files(): string[] {
    const entries = readdirSync(this.installed, { recursive: true, withFileTypes: true })
    const files = entries.filter(entry => entry.isFile())
    return files.map(file => relative(this.installed, join(file.parentPath, file.name)).replaceAll('\\', '/'))
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  write(path: string, content: string | object): string {
    const file = join(this.folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    return file
  }

  node(words: readonly string[], environment: { readonly [name: string]: string } = {}): Ran {
    return run(this.folder, process.execPath, words, environment)
  }

  /** A tool of this repository, run in the project. */
  tool(path: string, ...words: readonly string[]): Ran {
    return this.node([join(ROOT, 'node_modules', path), ...words])
  }

  /** The same, left running. It has a group of its own, so that all that it starts ends with it. */
  startTool(path: string, ...words: readonly string[]): RunningTool {
    const file = join(ROOT, 'node_modules', path)
    const child = spawn(process.execPath, [file, ...words], {
      cwd: this.folder,
      env: ownEnvironment(QUIET),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    })
    return new RunningTool(child)
  }

  compile(configuration: string): Ran {
    return this.tool('typescript/bin/tsc', '-p', configuration)
  }

  /** The command of the package, as it was installed. */
  baton(...words: readonly string[]): Ran {
    return this.node([join(this.installed, 'dist/cli/main.js'), ...words])
  }

  /** `baton start`, and where it listens. */
  async start(): Promise<{ readonly url: string; readonly process: ChildProcess }> {
    const words = ['start', '--port', '0', '--json', '--storage', join(this.folder, 'storage')]
    const child = spawn(process.execPath, [join(this.installed, 'dist/cli/main.js'), ...words], {
      cwd: this.folder,
      env: ownEnvironment({}),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    for await (const chunk of child.stdout) {
      said += chunk
      if (said.includes('\n')) return { url: (JSON.parse(said) as { url: string }).url, process: child }
    }
    throw new Error(`baton start ended: ${said}`)
  }
}

/** wrangler asks nobody outside. */
const QUIET = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_WRITE_LOGS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  X_LOCAL_EXPLORER: 'false',
  X_LOCAL_OBSERVABILITY: 'false',
}

export class RunningTool {
  readonly #process: ChildProcess
  #said = ''

  constructor(child: ChildProcess) {
    this.#process = child
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#said += text
      })
    }
  }

  /** The first group of what it has printed; rejects if it ends before. */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#said)
      if (found !== null) return found[1]!
      if (this.#process.exitCode !== null) throw new Error(`it ended: ${this.#said}`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = once(this.#process, 'exit')
    if (process.platform === 'win32') this.#process.kill()
    else process.kill(-this.#process.pid!, 'SIGKILL')
    await ended
  }
}

function run(
  cwd: string,
  command: string,
  words: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Ran {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    env: ownEnvironment(environment),
  })
  if (error !== undefined) throw error
  return { status, output: stdout, errors: stderr }
}

/** Nothing of what makes this repository's TypeScript run: the package must do without. */
function ownEnvironment(more: { readonly [name: string]: string }): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...own } = process.env
  return { ...own, ...more }
}

/** npm is a batch file on Windows; where npm runs us, it says where its program is. */
function npm(...words: readonly string[]): [command: string, words: string[]] {
  const program = process.env.npm_execpath
  return program === undefined ? ['npm', [...words]] : [process.execPath, [program, ...words]]
}

export function succeed(ran: Ran): Ran {
  if (ran.status !== 0) throw new Error(`status ${ran.status}\n${ran.output}\n${ran.errors}`)
  return ran
}
