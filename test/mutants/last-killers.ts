/**
 * Which file of tests noticed each mutant the last time. Most mutants are noticed by the same file again, and
 * to run one file takes a small part of the time that all suites take. It decides nothing: a mutant that this
 * file does not notice is judged by all of them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const STORED = new URL('./killed-by.json', import.meta.url)

export class LastKillers {
  readonly #files: Map<string, string>

  constructor(text = existsSync(STORED) ? readFileSync(STORED, 'utf8') : '{}') {
    this.#files = new Map(Object.entries(JSON.parse(text) as Record<string, string>))
  }

  of(id: string): string | undefined {
    const file = this.#files.get(id)
    return file !== undefined && existsSync(fileURLToPath(new URL(file, ROOT))) ? file : undefined
  }

  /** `how` is the title of the test with its file, or what else noticed the mutant. */
  note(id: string, how: string): void {
    const [file] = /^test\/\S+\.test\.ts(?= > )/.exec(how) ?? []
    if (file === undefined) this.#files.delete(id)
    else this.#files.set(id, file)
  }

  toString(): string {
    return `${JSON.stringify(Object.fromEntries([...this.#files].sort()), null, 2)}\n`
  }

  write(): void {
    writeFileSync(STORED, this.toString())
  }
}
