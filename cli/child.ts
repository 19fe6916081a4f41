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

const UNHEARD: readonly (string | undefined)[] = ['ESRCH', 'EPERM']

export class Child {
  /** The exit code. Never rejects. */
  readonly ended: Promise<number>
  /** Why it could not be started at all. */
  startError: string | null = null
  readonly #process: ChildProcess | null
  #isOver = false

  constructor(command: readonly [string, ...string[]], environment: NodeJS.ProcessEnv) {
    const [file, ...args] = command
    try {
      this.#process = spawn(file, args, { stdio: 'inherit', env: environment, detached: ownsGroup })
      this.ended = this.#end(this.#process, file).finally(() => {
        this.#isOver = true
      })
    } catch (error) {
      // Some of what is wrong is told by an event, and some at once: a path through a file, for example.
      this.#process = null
      this.ended = Promise.resolve(this.#notStarted(file, error as NodeJS.ErrnoException))
      this.#isOver = true
    }
  }

  #end(process: ChildProcess, file: string): Promise<number> {
    return new Promise(resolve => {
      process.once('error', error => resolve(this.#notStarted(file, error)))
      process.once('exit', (code, signal) => resolve(signal === null ? code! : codeOfSignal(signal)))
    })
  }

  #notStarted(file: string, { code, message }: NodeJS.ErrnoException): number {
    const isMissing = code === 'ENOENT'
    this.startError = isMissing
      ? `there is no command '${file}'`
      : `'${file}' cannot be executed: ${code ?? message}`
    return isMissing ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE
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
    const pid = this.#process?.pid
    try {
      return pid !== undefined && process.kill(-pid, 0)
    } catch {
      return false
    }
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid
    if (pid === undefined || (this.#isOver && !ownsGroup)) return
    try {
      process.kill(ownsGroup ? -pid : pid, signal)
    } catch (error) {
      // There is nobody left, or nobody who listens to this user: the end of a `sudo` is waited for.
      if (!UNHEARD.includes((error as NodeJS.ErrnoException).code)) throw error
    }
  }
}
