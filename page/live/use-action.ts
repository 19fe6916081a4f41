/** Something that a button does: one at a time, with what it said and what went wrong. */
import { useState } from 'preact/hooks'

export interface Action {
  readonly isBusy: boolean
  readonly problem: unknown
  /** What was done, in words. */
  readonly done: string
  /** `work` resolves to what was done, in words. */
  run(work: () => Promise<string>): Promise<void>
  clear(): void
}

export function useAction(onDone: () => void): Action {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const [done, setDone] = useState('')
  const clear = () => {
    setProblem(null)
    setDone('')
  }
  const run = async (work: () => Promise<string>) => {
    setIsBusy(true)
    clear()
    try {
      setDone(await work())
    } catch (error) {
      setProblem(error)
    } finally {
      setIsBusy(false)
      onDone()
    }
  }
  return { isBusy, problem, done, run, clear }
}
