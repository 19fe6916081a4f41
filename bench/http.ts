/**
 * One HTTP request on kept-alive connections. What the service says can be repeated is repeated, as its
 * client would; the time counts, and the report says how often. Every other refusal ends the measurement.
 */
import { Agent, request as send } from 'node:http'
import { setTimeout } from 'node:timers/promises'

const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const ATTEMPTS = 10
const PAUSE_MS = 50
/** Longer than any wait for a lock. */
const TIMEOUT_MS = 60_000

let repeated = 0

/** How many requests were repeated so far. */
export const repeatedRequests = (): number => repeated

export async function request<Answer = unknown>(method: string, url: string, body?: object): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  for (let attempt = 1; ; attempt++) {
    const { status, answer } = await sendOnce(method, url, text)
    if (status < 400) return (answer === '' ? null : JSON.parse(answer)) as Answer
    if (attempt === ATTEMPTS || !isRepeatable(answer))
      throw new Error(`${method} ${url}: ${status} ${answer}`)
    repeated++
    await setTimeout(PAUSE_MS)
  }
}

function isRepeatable(answer: string): boolean {
  try {
    return (JSON.parse(answer) as { readonly retryable?: boolean }).retryable === true
  } catch {
    return false
  }
}

interface Answered {
  readonly status: number
  readonly answer: string
}

function sendOnce(method: string, url: string, text: string | undefined): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers =
      text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const outgoing = send(url, { method, agent, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, answer: Buffer.concat(chunks).toString() }),
      )
      response.on('error', reject)
    })
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error(`${method} ${url}: no answer`)))
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}
