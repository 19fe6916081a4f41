/** The signals that ask this process to end: they abort what waits, or go to a command that is running. */
import { constants } from 'node:os'

const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']

/** What a shell says of a process that a signal ended. */
export const codeOfSignal = (signal: NodeJS.Signals): number => 128 + (constants.signals[signal] ?? 0)

export class Signals {
  readonly #controller = new AbortController()
  #received: NodeJS.Signals | null = null
  #onSignal: (signal: NodeJS.Signals) => void = signal => this.#abort(signal)

  constructor() {
    for (const signal of ENDING) process.on(signal, () => this.#onSignal(signal))
  }

  /** Aborted by the first signal, unless it is given to somebody else. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The signal that ended the wait. */
  get received(): NodeJS.Signals | null {
    return this.#received
  }

  /** From now on whoever calls this hears of them, also of two more that programs use among themselves. */
  giveTo(listener: (signal: NodeJS.Signals) => void): void {
    this.#onSignal = listener
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
      if (process.platform !== 'win32') process.on(signal, () => this.#onSignal(signal))
    }
  }

  /** A second one does not wait for the first to be done. */
  #abort(signal: NodeJS.Signals): void {
    if (this.#received !== null) process.exit(codeOfSignal(signal))
    this.#received = signal
    this.#controller.abort(new Error(signal))
  }
}
