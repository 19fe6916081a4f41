/** A few lines at the end of the terminal that are drawn again when they change. */
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_BELOW = '\u001b[J'

const DEFAULT_COLUMNS = 80
const DEFAULT_ROWS = 24

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
    // A terminal that nobody has told its size says 0.
    const shown = lines
      .slice(0, (rows || DEFAULT_ROWS) - 1)
      .map(line => line.slice(0, columns || DEFAULT_COLUMNS))
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r`
    this.#write(`${up}${CLEAR_BELOW}${shown.join('\n')}\n`)
    this.#drawn = shown.length
  }

  end(): void {
    this.#write(SHOW_CURSOR)
  }
}
