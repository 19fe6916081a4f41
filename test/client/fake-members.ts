/**
 * A service in which only `POST …/participants` answers: each call gets the next of these answers, and the
 * last one for ever. What was asked is kept.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type MembersAnswer =
  | { readonly status: number; readonly body: object }
  /** The request is read, and the connection closed without an answer. */
  | 'lose'

export interface FakeMembers extends AsyncDisposable {
  readonly url: string
  readonly asked: readonly { readonly path: string; readonly body: unknown }[]
}

const PLACES = [
  { id: 1, location: 'weur' },
  { id: 3, location: null },
]

export const BEGUN: MembersAnswer = { status: 202, body: { participants: PLACES, configuration: 7 } }
export const CHANGED: MembersAnswer = { status: 200, body: { participants: PLACES, configuration: 8 } }
export const CONFLICT: MembersAnswer = {
  status: 409,
  body: {
    ...{ type: 'about:blank', title: 'Conflict', status: 409, code: 'conflict', retryable: false },
    detail: 'Another change came first.',
    participants: PLACES,
  },
}

export async function serveMembers(...answers: readonly MembersAnswer[]): Promise<FakeMembers> {
  const asked: { path: string; body: unknown }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    if (request.method !== 'POST') return response.writeHead(404).end()
    const answer = answers[Math.min(asked.length, answers.length - 1)]!
    asked.push({ path: request.url!, body: JSON.parse(text) })
    if (answer === 'lose') return response.destroy()
    const type = answer.status < 400 ? 'application/json' : 'application/problem+json'
    response.writeHead(answer.status, { 'content-type': type }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
