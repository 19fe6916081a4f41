/**
 * Two processes that write to one storage folder would destroy it. A file next to the folder names the
 * process that uses it; a file left over from a process that is gone is taken over.
 */
import { accessSync, constants, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { atExit } from './at-exit.ts'

export interface StorageLock {
  /** The folder is in use for as long as this process lives. */
  holdFor(pid: number): void
  release(): void
}

/** Makes the folder if it is not there. */
export async function lockStorage(storage: string): Promise<StorageLock> {
  const file = `${storage}.lock`
  makeFolder(storage)
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotWrite(storage, error)
    }
    const holder = holderIn(file)
    if (holder !== null) {
      const hint = `Stop that one first, or choose another folder; if that is no Baton, remove ${file}`
      throw new Error(`the storage folder ${storage} is in use by process ${holder}. ${hint}`)
    }
    rmSync(file, { force: true })
  }
  const remove = () => rmSync(file, { force: true })
  const forget = atExit(remove)
  return {
    holdFor: pid => writeFileSync(file, String(pid)),
    release() {
      forget()
      remove()
    },
  }
}

function makeFolder(storage: string): void {
  try {
    mkdirSync(storage, { recursive: true })
    accessSync(storage, constants.W_OK)
  } catch (error) {
    throw cannotWrite(storage, error)
  }
}

const cannotWrite = (storage: string, cause: unknown): Error =>
  new Error(`the storage folder ${storage} cannot be written: ${(cause as Error).message}`, { cause })

/** The process that the file names, if it lives. */
function holderIn(file: string): number | null {
  const pid = Number(readIfThere(file))
  return Number.isInteger(pid) && pid > 0 && isAlive(pid) ? pid : null
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
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
