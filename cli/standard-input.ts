/** All of standard input, up to what a request may hold. */
import { addAbortSignal } from 'node:stream'
import { UsageError } from './arguments.ts'

const MAX_BYTES = 2 * 1024 * 1024

/** Rejects once the signal is aborted: whoever should write it may never do so. */
export async function readInput(signal: AbortSignal, maxBytes = MAX_BYTES): Promise<string> {
  addAbortSignal(signal, process.stdin)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new UsageError(`standard input has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
