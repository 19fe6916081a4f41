/** Sends bytes to a port and waits for the head of an answer: only its status matters, and that it comes. */
import { createConnection } from 'node:net'

export interface Sent {
  /** `null`: the connection ended without an answer. */
  readonly status: number | null
  readonly isHung: boolean
}

export interface SendOptions {
  readonly port: number
  readonly bytes: Buffer
  /** Sent after an answer that switches to another protocol. */
  readonly frames?: readonly Buffer[]
  /** Whether an answer is owed; otherwise the connection is closed after a short while. */
  readonly isComplete: boolean
}

/** Above the longest wait that a request may ask for, which is 25 s. */
const HUNG_AFTER_MS = 40_000
/** For half a request: a server may wait for the rest. */
const PATIENCE_MS = 1_000
const AFTER_FRAMES_MS = 250

export function send({ port, bytes, frames, isComplete }: SendOptions): Promise<Sent> {
  return new Promise(resolve => {
    const socket = createConnection(port, '127.0.0.1')
    let received = ''
    let timer = setTimeout(() => finish(isComplete), isComplete ? HUNG_AFTER_MS : PATIENCE_MS)
    const finish = (isHung: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ status: statusOf(received), isHung: isHung && statusOf(received) === null })
    }
    socket.on('data', data => {
      if (received.length > 2_000) return
      received += data.toString('latin1')
      const status = statusOf(received)
      if (status === null || !received.includes('\r\n\r\n')) return
      if (status !== 101 || frames === undefined) return finish(false)
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), AFTER_FRAMES_MS)
      for (const frame of frames) socket.write(frame)
    })
    socket.on('error', () => finish(false))
    socket.on('close', () => finish(false))
    socket.write(bytes)
  })
}

/** The status of the last head that is not a mere `100 Continue`. */
function statusOf(text: string): number | null {
  const heads = [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status))
  return heads.findLast(status => status !== 100) ?? null
}
