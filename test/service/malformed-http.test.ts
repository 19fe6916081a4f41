/** Bytes that are no proper request are refused with a 4xx (or closed), and never with a 500. */
import { describe, expect, it } from 'vitest'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { rawExchange } from './raw-http.ts'

const service = useService()
const H = 'host: 127.0.0.1\r\n'
const JSON_BODY = 'content-type: application/json\r\n'
const POST = `POST /v1/locks/a/transact HTTP/1.1\r\n${H}${JSON_BODY}`
const send = (text: string) => rawExchange(service.url, Buffer.from(text, 'latin1'))

describe('refused by the service, with a problem, is', () => {
  it.each([
    ['a GET with a body', 400, `GET /v1/locks/a HTTP/1.1\r\n${H}content-length: 5\r\n\r\nhello`],
    [
      'a GET with chunks',
      400,
      `GET /healthz HTTP/1.1\r\n${H}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
    [
      'a GET with chunks that is said to have no bytes',
      400,
      `GET /healthz HTTP/1.1\r\n${H}content-length: 0\r\ntransfer-encoding: chunked\r\n\r\n` +
        '2\r\n{}\r\n0\r\n\r\n',
    ],
    ['a host with a space', 400, 'GET /healthz HTTP/1.1\r\nhost: a b\r\n\r\n'],
    ['half a host', 400, 'GET /healthz HTTP/1.1\r\nhost: [::1\r\n\r\n'],
    ['a host with a port that is none', 400, 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:99999\r\n\r\n'],
    ['a host that is not decoded', 400, 'GET /healthz HTTP/1.1\r\nhost: %zz\r\n\r\n'],
    ['a host with a user', 400, 'GET /healthz HTTP/1.1\r\nhost: user@127.0.0.1\r\n\r\n'],
    ['two hosts', 400, `GET /healthz HTTP/1.1\r\n${H}${H}\r\n`],
    ['a path that is not decoded', 400, `GET /v1/locks/%zz HTTP/1.1\r\n${H}\r\n`],
    ['a key that is not UTF-8', 400, `GET /v1/locks/a/state/%ff HTTP/1.1\r\n${H}\r\n`],
    ['TRACE', 405, `TRACE /healthz HTTP/1.1\r\n${H}\r\n`],
    ['a long path', 404, `GET /${'a'.repeat(7_000)} HTTP/1.1\r\n${H}\r\n`],
    ['a long key', 413, `GET /v1/locks/a/state/${'a'.repeat(7_000)} HTTP/1.1\r\n${H}\r\n`],
    ['a body in chunks that are none', 400, `${POST}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    [
      'a body in chunks that end too soon',
      400,
      `${POST}transfer-encoding: chunked\r\n\r\n5\r\n{}\r\n0\r\n\r\n`,
    ],
    ['two types of a body', 415, `${POST}content-type: text/plain\r\ncontent-length: 2\r\n\r\n{}`],
    ['an origin that is none', 403, `POST /v1/locks/a/eject HTTP/1.1\r\n${H}origin: http://[\r\n\r\n`],
    [
      'a page of another site',
      403,
      `POST /v1/locks/a/eject HTTP/1.1\r\n${H}origin: https://a.example\r\n\r\n`,
    ],
    ['a name that was made to point here', 403, 'POST /v1/locks/a/eject HTTP/1.1\r\nhost: a.example\r\n\r\n'],
  ])('%s: %i', async (_, status, bytes) => {
    const answer = await send(bytes)
    expect(answer.text).toContain('application/problem+json')
    expect(answer.status).toBe(status)
    const id = /x-request-id: (\S+)/i.exec(answer.text)?.[1]
    expect(answer.text).toContain(`"requestId":"${id}"`)
  })

  it('no path, and that is said of it', async () => {
    for (const method of ['OPTIONS', 'GET']) {
      const { status, text } = await send(`${method} * HTTP/1.1\r\n${H}\r\n`)
      expect(status).toBe(400)
      expect(text).toContain('"detail":"The path must begin with a slash."')
    }
  })

  it('a WebSocket of a page of another site', async () => {
    const upgrade = 'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n'
    const key = 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
    const answer = await send(
      `GET /v1/locks/a/session HTTP/1.1\r\n${H}${upgrade}${key}origin: https://a.example\r\n\r\n`,
    )
    expect(answer.status).toBe(403)
  })

  it('a HEAD with a body', async () => {
    expect((await send(`HEAD /healthz HTTP/1.1\r\n${H}content-length: 5\r\n\r\nhello`)).status).toBe(400)
  })
})

it.each(['GET', 'HEAD'])('a %s that says that its body has no bytes is served', async method => {
  expect((await send(`${method} /healthz HTTP/1.1\r\n${H}content-length: 0\r\n\r\n`)).status).toBe(200)
})

describe('refused by the runtime is', () => {
  it.each([
    ['no host', `GET /healthz HTTP/1.1\r\n\r\n`],
    ['a path that is too long', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\n${H}\r\n`],
    ['a negative length', `POST /healthz HTTP/1.1\r\n${H}content-length: -2\r\n\r\n{}`],
    ['two lengths', `POST /healthz HTTP/1.1\r\n${H}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
    ['a header without a colon', `GET /healthz HTTP/1.1\r\n${H}nonsense\r\n\r\n`],
    ['a header with a zero in it', `GET /healthz HTTP/1.1\r\n${H}x: a\0b\r\n\r\n`],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
    ['a WebSocket without a key', `GET /v1/locks/a/session HTTP/1.1\r\n${H}upgrade: websocket\r\n\r\n`],
  ])('%s', async (_, bytes) => {
    const { status } = await send(bytes)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  })

  it.each(['FOO', 'get'])('the method %s, which is none: 501', async method => {
    expect((await send(`${method} /healthz HTTP/1.1\r\n${H}\r\n`)).status).toBe(501)
  })
})

it('a tunnel is closed as soon as it is open: the runtime can refuse none', async () => {
  for (const target of ['127.0.0.1:80', '/v1/locks/a']) {
    const answer = await send(`CONNECT ${target} HTTP/1.1\r\n${H}\r\n`)
    expect(answer.status).toBeLessThan(500)
  }
})

it('says nothing of a defect', () => {
  expect(service.output.join('\n')).toBe('')
})

itKeepsEveryPromise(service)
