/**
 * Two processes that write to one storage folder would destroy it. Whoever wants a folder makes a file beside
 * it that names its process, a claim, and only then looks for the claims of others. Of two that come at the
 * same time at least one sees the other, and whoever sees another one takes its own claim back. A claim of a
 * process that is gone is removed; no other claim will ever have its name, so nobody removes one that is new.
 */
import { randomBytes } from 'node:crypto'
import { accessSync, constants, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { atExit } from './at-exit.ts'

export interface StorageLock {
  /** The folder is in use for as long as this process lives, too. */
  holdFor(pid: number): void
  release(): void
}

/** Two that took their claims back do not meet again and again, because they wait for different times. */
const ATTEMPTS = 5
const MAX_PAUSE_MS = 60

/** Makes the folder if it is not there. */
export async function lockStorage(storage: string): Promise<StorageLock> {
  const folder = makeFolder(storage)
  for (let attempt = 1; ; attempt++) {
    const claims = new Claims(folder)
    const forget = atExit(() => claims.remove())
    const release = () => {
      forget()
      claims.remove()
    }
    const other = claimForOrExplain(storage, claims)
    if (other === null) return { holdFor: pid => claims.add(pid), release }
    release()
    if (attempt === ATTEMPTS) {
      const hint = `Stop that one first, or choose another folder; if that is no Baton, remove ${other.file}`
      throw new Error(`the storage folder ${storage} is in use by process ${other.pid}. ${hint}`)
    }
    await setTimeout(Math.random() * MAX_PAUSE_MS)
  }
}

/** By its one true name: whoever comes through a link finds the same claims. */
function makeFolder(storage: string): string {
  try {
    mkdirSync(storage, { recursive: true })
    accessSync(storage, constants.W_OK)
    return realpathSync(storage)
  } catch (error) {
    throw cannotWrite(storage, error)
  }
}

function claimForOrExplain(storage: string, claims: Claims): Claim | null {
  try {
    claims.add(process.pid)
    return claims.another()
  } catch (error) {
    throw cannotWrite(storage, error)
  }
}

const cannotWrite = (storage: string, cause: unknown): Error =>
  new Error(`the storage folder ${storage} cannot be written: ${(cause as Error).message}`, { cause })

interface Claim {
  readonly file: string
  readonly pid: number
}

/** The claims of one launcher to one folder. All that a claim says is its name, so none is half there. */
class Claims {
  readonly #folder: string
  readonly #own: string[] = []

  constructor(folder: string) {
    this.#folder = folder
  }

  add(pid: number): void {
    const file = `${this.#folder}.${pid}-${randomBytes(8).toString('hex')}.lock`
    this.#own.push(file)
    writeFileSync(file, '', { flag: 'wx' })
  }

  remove(): void {
    for (const file of this.#own.splice(0)) rmSync(file, { force: true })
  }

  /** One of a process that lives. */
  another(): Claim | null {
    const others = this.#all().filter(({ file }) => !this.#own.includes(file))
    for (const { file, pid } of others) if (!isAlive(pid)) rmSync(file, { force: true })
    return others.find(({ pid }) => isAlive(pid)) ?? null
  }

  #all(): Claim[] {
    const prefix = `${basename(this.#folder)}.`
    const parent = dirname(this.#folder)
    return readdirSync(parent)
      .filter(name => name.startsWith(prefix))
      .flatMap(name => {
        const [, pid] = /^([1-9]\d*)-[0-9a-f]{16}\.lock$/.exec(name.slice(prefix.length)) ?? []
        return pid === undefined ? [] : [{ file: join(parent, name), pid: Number(pid) }]
      })
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process is one as well.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
