/** HTTP as bytes on a socket, for requests that no HTTP client lets a test send. */
import { connect } from 'node:net'

export interface RawAnswer {
  /** 0 if the connection was closed without an answer. */
  readonly status: number
  readonly text: string
}

/** Sends the bytes and reads until there is an answer with all of its body, or the connection is closed. */
export function rawExchange(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise(resolve => {
    const socket = connect(Number(port), hostname)
    let text = ''
    const finish = () => {
      socket.destroy()
      resolve({ status: Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(text)?.[1] ?? 0), text })
    }
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      if (isWhole(text)) finish()
    })
    socket.on('error', finish)
    socket.on('close', finish)
    socket.write(bytes)
  })
}

export interface RawRequest {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
}

/** A request with exactly these headers, including `Host`. */
export function rawRequest(url: string, path: string, options: RawRequest): Promise<RawAnswer> {
  const { method = 'GET', headers, body = '' } = options
  const { host } = new URL(url)
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host, ...length, ...headers }).map(([name, value]) => `${name}: ${value}`)
  return rawExchange(url, `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /^content-length: ([0-9]+)/im.exec(text)?.[1]
  if (length !== undefined) return text.length >= end + 4 + Number(length)
  return /^transfer-encoding: chunked/im.test(text) ? text.endsWith('0\r\n\r\n') : true
}
