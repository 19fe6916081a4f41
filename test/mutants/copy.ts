/** A temporary copy of the project in which one mutant at a time lives; the working tree is never touched. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './catalogue.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
/** What is built, and what is hidden. Everything else is source, including what is added later. */
const LEFT_OUT = /^(?:\.|node_modules$|dist$)/

export class Copy {
  readonly folder: string

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'baton-mutant-'))
    const names = readdirSync(PROJECT).filter(name => !LEFT_OUT.test(name))
    for (const name of names) cpSync(join(PROJECT, name), join(this.folder, name), { recursive: true })
    symlinkSync(join(PROJECT, 'node_modules'), join(this.folder, 'node_modules'))
  }

  /** Brings the bug back, and returns what takes it away again. */
  apply(mutant: Mutant): () => void {
    const path = join(this.folder, mutant.file)
    const original = readFileSync(path, 'utf8')
    writeFileSync(path, mutate(original, mutant))
    return () => writeFileSync(path, original)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function mutate(source: string, { id, file, find, replace }: Mutant): string {
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`mutant ${id}: its text occurs ${places} times in ${file}, not once`)
  return source.replace(find, () => replace)
}

export const readSource = (file: string): string => readFileSync(join(PROJECT, file), 'utf8')
