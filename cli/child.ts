/** A command that is run, from its start to its end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { RUN_NOT_EXECUTABLE, RUN_NOT_FOUND } from './exit-codes.ts'
import { codeOfSignal } from './signals.ts'

/**
 * At a terminal the command shares this process's group, so that it can read from the terminal; Ctrl-C
 * reaches both by itself. Elsewhere it has a group of its own, so that a signal reaches all that it started.
 */
const hasTerminal = process.stdin.isTTY === true
const ownsGroup = !hasTerminal && process.platform !== 'win32'

const POLL_MS = 20

/** What the terminal sends to everybody in its group. */
const FROM_THE_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

export class Child {
  /** The exit code. Never rejects. */
  readonly ended: Promise<number>
  /** Why it could not be started at all. */
  startError: string | null = null
  readonly #process: ChildProcess
  #isOver = false

  constructor(command: readonly [string, ...string[]], environment: NodeJS.ProcessEnv) {
    const [file, ...args] = command
    this.#process = spawn(file, args, { stdio: 'inherit', env: environment, detached: ownsGroup })
    this.ended = this.#end().finally(() => {
      this.#isOver = true
    })
  }

  #end(): Promise<number> {
    return new Promise(resolve => {
      this.#process.once('error', (error: NodeJS.ErrnoException) => {
        const isMissing = error.code === 'ENOENT'
        this.startError = isMissing
          ? `there is no command '${this.#process.spawnfile}'`
          : `'${this.#process.spawnfile}' cannot be executed: ${error.code ?? error.message}`
        resolve(isMissing ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE)
      })
      this.#process.once('exit', (code, signal) => resolve(signal === null ? code! : codeOfSignal(signal)))
    })
  }

  /** A signal that this process was sent. */
  forward(signal: NodeJS.Signals): void {
    if (!(hasTerminal && FROM_THE_TERMINAL.includes(signal))) this.#signal(signal)
  }

  /** Asks it to end, with all that it started, and ends whatever is left of it when the time is over. */
  async end(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs
    this.#signal('SIGTERM')
    while (this.#isLeft() && performance.now() < until) {
      await Promise.race([sleep(POLL_MS), ...(ownsGroup ? [] : [this.ended])])
    }
    this.#signal('SIGKILL')
    await this.ended
  }

  #isLeft(): boolean {
    if (!ownsGroup) return !this.#isOver
    try {
      return this.#process.pid !== undefined && process.kill(-this.#process.pid, 0)
    } catch {
      return false
    }
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#process
    if (pid === undefined || (this.#isOver && !ownsGroup)) return
    try {
      process.kill(ownsGroup ? -pid : pid, signal)
    } catch (error) {
      // There is nobody left.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
