/** Prints at once, so that nothing is lost when the process ends right afterwards. */
import { writeSync } from 'node:fs'

export const say = (text: string): void => print(1, text)
export const note = (text: string): void => print(2, text)

/** A pipe that does not block takes as much as fits, and refuses the rest until somebody has read. */
function print(file: number, text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(file, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
