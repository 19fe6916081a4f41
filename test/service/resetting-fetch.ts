/**
 * A `fetch` that resets its connection when it is aborted, as the network does to a client whose process is
 * gone. The open runtime does not notice a connection that merely ends (FIN) while its answer is awaited; the
 * platform notices both (github.com/cloudflare/workerd, pull request 5062).
 */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

const WITHOUT_BODY = [204, 205, 304]

export async function resettingFetch(request: Request): Promise<Response> {
  const { url, method, headers } = request
  const body = Buffer.from(await request.arrayBuffer())
  request.signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers: Object.fromEntries(headers), agent: false })
    const reset = () => {
      outgoing.socket?.resetAndDestroy()
      reject(request.signal.reason)
    }
    request.signal.addEventListener('abort', reset)
    outgoing.on('error', error => reject(new TypeError('the connection broke', { cause: error })))
    outgoing.on('response', incoming => {
      // The signal of a request that nobody refers to any more is never aborted: this listener does.
      incoming.on('close', () => request.signal.removeEventListener('abort', reset))
      resolve(responseOf(incoming))
    })
    outgoing.end(body)
  })
}

function responseOf(incoming: IncomingMessage): Response {
  const status = incoming.statusCode!
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  )
  if (!WITHOUT_BODY.includes(status)) {
    return new Response(Readable.toWeb(incoming) as ReadableStream, { status, headers })
  }
  incoming.resume()
  return new Response(null, { status, headers })
}
