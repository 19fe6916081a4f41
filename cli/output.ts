/** What a command prints: results on standard output, everything else on standard error. */
import { writeSync } from 'node:fs'

export class Output {
  readonly isJson: boolean

  constructor(isJson: boolean) {
    this.isJson = isJson
  }

  /** A result: with `--json` the value, otherwise its lines. */
  result(value: unknown, lines: readonly string[]): void {
    for (const line of this.isJson ? [JSON.stringify(value)] : lines) this.line(line)
  }

  line(text: string): void {
    write(1, `${text}\n`)
  }

  note(text: string): void {
    write(2, `${text}\n`)
  }

  /** What the user should know, though it is no reason to stop. */
  warn(text: string): void {
    this.note(this.isJson ? JSON.stringify({ warning: text }) : `baton: warning: ${text}`)
  }
}

/**
 * Written at once, because the process may end right after. A pipe that is full is tried again; one whose
 * reader has gone (`baton list … | head`) ends the process, as it would end any other command.
 */
function write(file: 1 | 2, text: string): void {
  let bytes: Uint8Array = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(file, bytes))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE') process.exit(file === 1 ? 141 : 1)
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/** Columns of the same width, with two spaces between them; the last one is as long as it is. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  return rows.map(row =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}
