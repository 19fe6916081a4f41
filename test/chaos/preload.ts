/**
 * Compiles preload.c with the machine's own compiler. If there is no compiler, it says why no clock or disk
 * can be broken.
 */
import { execFile } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type Preload =
  | { readonly type: 'library'; readonly path: string }
  | { readonly type: 'absent'; readonly why: string }

const SOURCE = fileURLToPath(new URL('preload.c', import.meta.url))

export async function compilePreload(folder: string): Promise<Preload> {
  if (process.platform !== 'linux') return { type: 'absent', why: 'LD_PRELOAD needs Linux' }
  const path = join(folder, 'preload.so')
  try {
    await promisify(execFile)('cc', ['-shared', '-fPIC', '-O2', '-o', path, SOURCE, '-ldl'])
    return { type: 'library', path }
  } catch (error) {
    return { type: 'absent', why: `no C compiler here (cc): ${String(error).split('\n')[0]}` }
  }
}

/** `struct control` of preload.c, as the tester writes it. */
export class PreloadControl {
  readonly path: string
  private clockOffsetMs = 0
  private writeError = 0

  constructor(path: string) {
    this.path = path
  }

  async create(): Promise<void> {
    await writeFile(this.path, this.bytes())
  }

  skewClock(offsetMs: number): void {
    this.clockOffsetMs = offsetMs
    this.write()
  }

  breakDisk(kind: 'read-only' | 'full' | null): void {
    const { EROFS, ENOSPC } = constants.errno
    this.writeError = kind === null ? 0 : kind === 'full' ? ENOSPC : EROFS
    this.write()
  }

  environment(library: string): { readonly [name: string]: string } {
    return { LD_PRELOAD: library, BATON_CHAOS_CONTROL: this.path }
  }

  /** In place: the process has mapped the file. */
  private write(): void {
    const file = openSync(this.path, 'r+')
    try {
      writeSync(file, this.bytes(), 0, 16, 0)
    } finally {
      closeSync(file)
    }
  }

  private bytes(): Buffer {
    const bytes = Buffer.alloc(16)
    bytes.writeBigInt64LE(BigInt(Math.round(this.clockOffsetMs)), 0)
    bytes.writeInt32LE(this.writeError, 8)
    return bytes
  }
}
