/**
 * Whether anybody listens at all. The client tries an operation again for as long as it may wait for the
 * lock, because the service may be restarting; and once it has tried, it cannot say that nothing was sent. A
 * person who gave a wrong address wants to know at once, and that nothing was done.
 */
import { connect } from 'node:net'
import { systemClock } from '../client/clock.ts'
import { networkError } from '../client/error-factory.ts'

const ATTEMPTS = 4
const PAUSE_MS = 250
const LIMIT_MS = 10_000

export async function mustBeThere(url: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connectOnce(new URL(url), signal)
    } catch (error) {
      if (signal.aborted || attempt === ATTEMPTS) throw networkError(error)
    }
    await systemClock.sleep(PAUSE_MS, { signal })
  }
}

/** Rejects once the signal is aborted. */
function connectOnce({ hostname, port, protocol }: URL, signal: AbortSignal): Promise<void> {
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      timeout: LIMIT_MS,
      signal,
    })
    const end = (settle: () => void) => {
      socket.destroy()
      settle()
    }
    socket.once('connect', () => end(resolve))
    socket.once('error', error => end(() => reject(error)))
    socket.once('timeout', () => end(() => reject(new Error(`no connection within ${LIMIT_MS} ms`))))
  })
}
