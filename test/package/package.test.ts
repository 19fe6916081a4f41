/**
 * The package as its users get it: packed, installed into a project outside of this repository, and run
 * there.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { itTestsAsDocumented } from './as-documented.ts'
import { itWorksInABrowser } from './in-a-browser.ts'
import { itWorksInAWorker } from './in-a-worker.ts'
import { NAME, Packed, type Project, ROOT, STRICT, succeed } from './project.ts'

const READY_MS = 300_000
let packed: Packed
let plain: Project
let service: Awaited<ReturnType<Project['start']>>

beforeAll(async () => {
  packed = new Packed()
  plain = packed.project('plain', ['workerd'])
  service = await plain.start()
}, READY_MS)

afterAll(async () => {
  if (service?.process.exitCode === null) {
    service.process.kill('SIGTERM')
    await once(service.process, 'exit')
  }
  packed?.[Symbol.dispose]()
}, READY_MS)

describe('what is in it', () => {
  it('is built code, its declarations and what one reads first', () => {
    const strange = plain
      .files()
      .filter(file => !/^dist\/.+\.(d\.ts|js|mjs)$|^package\.json$|^(README|LICEN[CS]E)/.test(file))
      .filter(file => !/^dist\/page\/built\/baton\/(index\.html|assets\/[\w-]+\.(css|svg))$/.test(file))
    expect(strange).toEqual([])
    expect(plain.files().filter(file => /test\.|(^|\/)test\//.test(file))).toEqual([])
  })

  it('has everything that it exports, and its command', () => {
    const { exports, bin } = JSON.parse(readFileSync(join(plain.installed, 'package.json'), 'utf8'))
    const targets = Object.values(exports).flatMap(target =>
      typeof target === 'string' ? target : Object.values(target!),
    )
    expect(targets.length).toBeGreaterThan(8)
    expect(plain.files()).toEqual(
      expect.arrayContaining([...targets, bin.baton].map(path => path.replace('./', ''))),
    )
  })

  it('names no folder of the machine that built it', () => {
    const naming = plain
      .files()
      .filter(file => readFileSync(join(plain.installed, file), 'utf8').includes(ROOT))
    expect(naming).toEqual([])
  })

  it('brings no second Node and no runtime', () => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(plain.installed, 'package.json'), 'utf8'),
    )
    expect([Object.keys(dependencies), optionalDependencies]).toEqual([['hono', 'zod'], undefined])
  })

  it('has a client of tens of kilobytes that needs nothing else', () => {
    const entryPoints = [join(plain.installed, 'dist/client/index.js')]
    const { outputFiles, metafile } = buildSync({
      entryPoints,
      bundle: true,
      minify: true,
      format: 'esm',
      metafile: true,
      write: false,
      platform: 'browser',
    })
    expect(outputFiles[0]!.contents.byteLength).toBeLessThan(60_000)
    const used = Object.keys(metafile.inputs).map(file => file.replaceAll('\\', '/'))
    expect(used.filter(file => !file.includes('/dist/client/'))).toEqual([])
  })
})

describe('in plain JavaScript', () => {
  it('the client holds a lock on the Node that is there', () => {
    plain.write(
      'hold.js',
      `import { createBaton } from '${NAME}/client'
      const lock = createBaton({ url: process.env.BATON_URL }).lock('plain')
      const sold = await lock.run(async held => (await held.apply([{ increment: 'sold' }])).results[0].value)
      console.log(sold, (await lock.get('sold')).value)`,
    )
    expect(plain.node(['hold.js'], { BATON_URL: service.url })).toEqual({
      status: 0,
      output: '1 1\n',
      errors: '',
    })
  })

  it('the recipes run on it, and know its errors', () => {
    plain.write(
      'recipes.js',
      `import { createBaton, TooManyError } from '${NAME}/client'
      import { Sequence, WorkQueue } from '${NAME}/recipes'
      const baton = createBaton({ url: process.env.BATON_URL })
      const queue = new WorkQueue(baton.lock('recipes'), { capacity: 1 })
      await queue.add('work')
      const isFull = await queue.add('more').catch(error => error instanceof TooManyError)
      const delivery = await queue.take()
      console.log(delivery.value, isFull, await delivery.done(), await new Sequence(baton.lock('numbers')).next())`,
    )
    expect(plain.node(['recipes.js'], { BATON_URL: service.url })).toEqual({
      status: 0,
      output: 'work true true 1\n',
      errors: '',
    })
  })

  it('a resource of one’s own can be defined and tried', () => {
    plain.write(
      'resource.js',
      `import { defineResource } from '${NAME}/resource'
      const counter = defineResource({ name: 'counter', apply: (state, { add }) => ({ total: add }) })
      console.log(JSON.stringify(counter.apply({}, [{ add: 2 }], 1).result))`,
    )
    expect(plain.node(['resource.js']).output).toBe('{"applied":true,"results":[{"total":2}]}\n')
  })
})

describe('the command', () => {
  it('is there under its name', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const bin = join(plain.folder, 'node_modules/.bin', process.platform === 'win32' ? 'baton.cmd' : 'baton')
    expect(readFileSync(bin, 'utf8')).toContain('node')
    expect(plain.baton('--version').output).toBe(`${version}\n`)
  })

  it('uses the service that it has started', () => {
    succeed(plain.baton('--url', service.url, 'put', 'cli', 'greeting', '"hello"'))
    expect(plain.baton('--url', service.url, 'get', 'cli', 'greeting').output).toContain('hello')
  })

  it('says what is missing where there is no runtime', () => {
    const { status, errors } = packed.project('bare').baton('start', '--port', '0')
    expect(status).not.toBe(0)
    expect(errors).toContain('npm install --save-dev workerd')
  })
})

describe('in a Worker of one’s own', () => itWorksInAWorker(() => packed))

describe('in a browser', () =>
  itWorksInABrowser(
    () => packed,
    () => service.url,
  ))

describe('for tests', () => itTestsAsDocumented(() => packed))

describe('types, under strict settings', () => {
  const code = `import { type Baton, createBaton } from '${NAME}/client'
    import { WorkQueue } from '${NAME}/recipes'
    const baton: Baton = createBaton({ url: 'https://example.com', key: 'k' })
    export const sold: Promise<number> = baton.lock('orders').run(async held => {
      const { applied, results } = await held.apply([{ increment: 'sold' }])
      return applied ? results[0].value : 0
    })
    export const queue = new WorkQueue<{ to: string }>(baton.lock('mails'))
    export const to: Promise<string | undefined> = queue.take().then(delivery => delivery?.value.to)
  `

  let project: Project
  beforeAll(() => {
    project = packed.project('typed', ['@types/node', '@cloudflare/workers-types'])
    project.write('code.ts', code)
    project.write('wrong.ts', code.replace("key: 'k'", 'key: 1'))
  }, READY_MS)

  it.each([
    ['browser', { lib: ['ES2022', 'DOM'], types: [] }],
    ['node', { module: 'NodeNext', moduleResolution: 'NodeNext', types: ['node'] }],
    ['worker', { types: ['@cloudflare/workers-types'] }],
  ])('the client compiles for a %s project', (where, options) => {
    const compilerOptions = { ...STRICT, ...options }
    project.write(`${where}.json`, { compilerOptions, files: ['code.ts'] })
    expect(project.compile(`${where}.json`)).toEqual({ status: 0, output: '', errors: '' })
    // They are types, and not `any`.
    project.write(`${where}-wrong.json`, { compilerOptions, files: ['wrong.ts'] })
    expect(project.compile(`${where}-wrong.json`).output).toContain(
      "'number' is not assignable to type 'string'",
    )
  })
})
