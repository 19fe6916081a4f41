/** A few lines at the end of the terminal that are drawn again when they change. */
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_BELOW = '\u001b[J'

export class LiveView {
  readonly #write: (text: string) => void
  readonly #size: () => { readonly columns: number; readonly rows: number }
  #drawn = 0

  constructor(
    write: (text: string) => void,
    size: () => { readonly columns: number; readonly rows: number },
  ) {
    this.#write = write
    this.#size = size
    write(HIDE_CURSOR)
  }

  /** Lines that are too long are cut: one that wraps would take more room than is counted on. */
  draw(lines: readonly string[]): void {
    const { columns, rows } = this.#size()
    const shown = lines.slice(0, Math.max(1, rows - 1)).map(line => line.slice(0, columns))
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r`
    this.#write(`${up}${CLEAR_BELOW}${shown.join('\n')}\n`)
    this.#drawn = shown.length
  }

  end(): void {
    this.#write(SHOW_CURSOR)
  }
}
