/**
 * Builds the page with vite, and writes it into a folder that a service may be serving at the same time: what
 * is new comes first, then what refers to it, and only then does what is old go.
 */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'vite'

interface BuiltFile {
  readonly path: string
  readonly content: string | Uint8Array
}

/** What refers to all other files. */
const ENTRY = 'index.html'

export async function buildPage(configuration: string, folder: string): Promise<void> {
  const files = await builtFiles(configuration)
  for (const file of files.filter(({ path }) => path !== ENTRY)) await write(folder, file)
  await write(folder, files.find(({ path }) => path === ENTRY)!)
  const wanted = new Set(files.map(({ path }) => path))
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isWanted = wanted.has(path.slice(folder.length + 1).replaceAll('\\', '/'))
    if (entry.isFile() && !isWanted) await rm(path, { force: true })
  }
}

async function builtFiles(configFile: string): Promise<BuiltFile[]> {
  const result = await asInProduction(() => build({ configFile, build: { write: false } }))
  const outputs = [result].flat() as { readonly output?: readonly Output[] }[]
  return outputs.flatMap(({ output = [] }) =>
    output.map(file => ({
      path: file.fileName,
      content: file.type === 'chunk' ? file.code! : file.source!,
    })),
  )
}

/** vite looks at this variable: in a test it would make a page for developers, with their folders in it. */
async function asInProduction<Result>(work: () => Promise<Result>): Promise<Result> {
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  try {
    return await work()
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
}

interface Output {
  readonly type: 'chunk' | 'asset'
  readonly fileName: string
  readonly code?: string
  readonly source?: string | Uint8Array
}

/** Nobody ever reads half of a file. */
async function write(folder: string, { path, content }: BuiltFile): Promise<void> {
  const target = join(folder, path)
  await mkdir(dirname(target), { recursive: true })
  const unfinished = `${target}.${process.pid}`
  await writeFile(unfinished, content)
  await rename(unfinished, target)
}
