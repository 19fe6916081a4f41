/**
 * What noticed each mutant the last time: a file of tests, or a simulator. Most mutants are noticed by the
 * same again, and to ask that one first takes a small part of the time that all of them take. It decides
 * nothing: a mutant that this one does not notice is judged by all of them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const STORED = new URL('./killed-by.json', import.meta.url)

export class LastKillers {
  /** By mutant: the path of a file, or the name of a killer. */
  readonly #last: Map<string, string>

  constructor(text = existsSync(STORED) ? readFileSync(STORED, 'utf8') : '{}') {
    this.#last = new Map(Object.entries(JSON.parse(text) as Record<string, string>))
  }

  /** The file of tests, if it was one and is still there. */
  fileOf(id: string): string | undefined {
    const last = this.#last.get(id)
    return last?.endsWith('.ts') && existsSync(fileURLToPath(new URL(last, ROOT))) ? last : undefined
  }

  /** The killer, if it was none of the suites. */
  killerOf(id: string): string | undefined {
    const last = this.#last.get(id)
    return last?.endsWith('.ts') ? undefined : last
  }

  /** `how` is the title of the test with its file, or what else noticed the mutant. */
  note(id: string, killer: string, how: string): void {
    const [file] = /^test\/\S+\.test\.ts(?= > )/.exec(how) ?? []
    this.#last.set(id, file ?? killer)
  }

  toString(): string {
    return `${JSON.stringify(Object.fromEntries([...this.#last].sort()), null, 2)}\n`
  }

  write(): void {
    writeFileSync(STORED, this.toString())
  }
}
