/**
 * One HTTP request on kept-alive connections. Statuses that say that a lock is held are answers; all others
 * are errors.
 */
import { Agent, request as send } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export function request<Answer = unknown>(method: string, url: string, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers =
      text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const outgoing = send(url, { method, agent, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString()
        const { statusCode = 0 } = response
        if (statusCode >= 400 && statusCode !== 409)
          reject(new Error(`${method} ${url}: ${statusCode} ${answer}`))
        else resolve((answer === '' ? null : JSON.parse(answer)) as Answer)
      })
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}
