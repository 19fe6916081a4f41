/**
 * Bad HTTP requests as bytes: from the table of routes with something wrong, and with no regard for any rule
 * at all.
 */
import { ROUTE_IDS, ROUTES, type Route } from '../../shared/api/routes.ts'
import type { Random } from '../simulator/random.ts'
import { ODD_ENCODINGS, ODD_NUMBERS, ODD_TEXTS, oddJson, randomBytes } from './junk.ts'
import { fieldsOf, schemaShaped } from './schema-shaped.ts'

export interface FuzzRequest {
  readonly kind: string
  readonly bytes: Buffer
  /** Everything that its head announces is there: so an answer is owed. */
  readonly isComplete: boolean
}

const METHODS = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT'],
  ...['PROPFIND', 'get', 'G ET', 'PÖST', 'X'.repeat(300), '', 'POST\t'],
]
const CONTENT_TYPES = [
  ...['application/json', 'application/json; charset=utf-16', 'application/problem+json', 'text/plain'],
  ...[
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '',
    ';;;',
    'application/\u0000',
  ],
]
const HOSTS = [
  ...[
    '',
    ' ',
    'a b',
    '[::1',
    '[::1]:x',
    '%zz',
    'x:99999999',
    'x:-1',
    'user:pass@host',
    'host/path',
    'ho\u0000st',
  ],
  ...[
    'evil.example',
    '127.0.0.1:1, 127.0.0.1:2',
    'é.example',
    `${'a'.repeat(5_000)}`,
    '..',
    'x#y',
    'x?y',
    '\\\\x',
  ],
]
const HEADERS = [
  ...['authorization: Bearer', 'authorization: Bearer  ', `authorization: Bearer ${'k'.repeat(9_000)}`],
  ...['authorization: Basic eDp5', 'if-none-match: *', 'if-none-match: W/"1', 'last-event-id: -1'],
  ...['last-event-id: 1e400', 'x-request-id: \u0001\u0002', `x-request-id: ${'x'.repeat(2_000)}`],
  ...['content-encoding: gzip', 'transfer-encoding: gzip, chunked', 'expect: 100-continue', 'expect: x'],
  ...[
    'upgrade: h2c',
    'upgrade: websocket',
    'connection: upgrade',
    'connection: close, upgrade',
    'te: trailers',
  ],
  ...[
    'range: bytes=0-0,-1',
    'origin: null',
    'origin: https://evil.example',
    'x-baton-lock: x',
    'cookie: a=b;;;=;',
  ],
  ...[
    'x-baton-participant: 1',
    'x-baton-participant: NaN',
    'x-forwarded-for: 1.2.3.4',
    'cf-connecting-ip: x',
  ],
  ...['a'.repeat(300), ': empty', 'x y: z', 'x\u00e9: y', 'x:\u0000', ' folded: yes', 'accept: */*;q=2'],
]

const pool = (random: Random): string => `fuzz-${random.below(20)}`

/** The paths of the API, the methods mostly right, the rest mostly not. */
export function routeRequest(random: Random, prefix = ''): FuzzRequest {
  const route: Route = ROUTES[random.pick(ROUTE_IDS)]
  const method = random.chance(0.85) ? route.method.toUpperCase() : random.pick(METHODS)
  const path = prefix + fillPath(route, random) + fillQuery(route, random)
  const body = bodyFor(route, random)
  return { kind: `route ${route.method} ${route.path}`, ...assemble(random, method, path, body) }
}

function fillPath({ path }: Route, random: Random): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (random.chance(0.15)) return random.pick(ODD_ENCODINGS)
    if (random.chance(0.1)) return encodeLoosely(random.pick(ODD_TEXTS))
    if (name === 'lock') return pool(random)
    if (name === 'id') return random.pick(ODD_IDS)
    return `key-${random.below(5)}`
  })
}

/** Shaped like grants and tickets, for participants and fences that there are not. */
const ODD_IDS = [
  ...[
    '1',
    '1-1',
    '1-1-',
    '1-1-AAAAAAAAAAAAAAAAAAAAAA',
    '99-1-AAAAAAAAAAAAAAAAAAAAAA',
    '0-0-AAAAAAAAAAAAAAAAAAAAAA',
  ],
  ...[
    '1-99999999999999999999-AAAAAAAAAAAAAAAAAAAAAA',
    '1-1e5-AAAAAAAAAAAAAAAAAAAAAA',
    '-1--1--AAAA',
    '3-AAAAAAAAAAAAAAAAAAAAAA',
  ],
  ...[
    '1-9007199254740991-AAAAAAAAAAAAAAAAAAAAAA',
    '1-1-AAAAAAAAAAAAAAAAAAAAA%00',
    '13-AAAAAAAAAAAAAAAAAAAAAA',
    'x'.repeat(3_000),
  ],
]

function fillQuery(route: Route, random: Random): string {
  const parts = fieldsOf(route.query)
    .filter(() => random.chance(0.4))
    .map(([name]) => `${name}=${random.pick([...ODD_NUMBERS, ...ODD_ENCODINGS, '1', '0', '13', 'local'])}`)
  if (random.chance(0.15))
    parts.push(random.pick(['a=b', '=', '&&&', 'a[]=1', '__proto__=1', '%=%', 'at=1&at=2']))
  if (random.chance(0.02)) parts.push('a=b&'.repeat(3_000))
  return parts.length === 0 ? '' : `?${parts.join('&').replaceAll(/[\s\u0080-\uffff]/g, encodeLoosely)}`
}

function bodyFor(route: Route, random: Random): Buffer | null {
  if (route.body === null) return random.chance(0.15) ? Buffer.from(oddJson(random)) : null
  if (random.chance(0.7)) return Buffer.from(schemaShaped(route.body, random))
  if (random.chance(0.02)) return Buffer.alloc(random.between(1, 3) * 1_100_000, '[')
  if (random.chance(0.2)) return randomBytes(random, random.between(0, 300))
  if (random.chance(0.1)) return Buffer.from(schemaShaped(route.body, random), 'utf16le')
  return Buffer.from(oddJson(random))
}

/** Text that stays on one line and has no blank, whatever else it is. */
function encodeLoosely(text: string): string {
  return Array.from(Buffer.from(text), byte => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

function assemble(random: Random, method: string, path: string, body: Buffer | null) {
  const host = random.chance(0.9) ? '127.0.0.1' : random.pick(HOSTS)
  const lines = [`${method} ${path} HTTP/1.1`]
  if (random.chance(0.98)) lines.push(`host: ${host}`)
  if (random.chance(0.2)) lines.push(random.pick(HEADERS))
  if (random.chance(0.005)) lines.push(...Array.from({ length: 3_000 }, (_, index) => `x-${index}: y`))
  // A body in chunks is announced, and none comes: the server may wait for it.
  const isAwaited = lines.some(line => line.startsWith('transfer-encoding'))
  if (body === null) return { bytes: head(lines), isComplete: !isAwaited }
  const type = random.chance(0.85) ? 'application/json' : random.pick(CONTENT_TYPES)
  lines.push(`content-type: ${type}`)
  const framed = frame(random, body)
  const bytes = Buffer.concat([head([...lines, ...framed.lines]), framed.bytes])
  return { bytes, isComplete: framed.isComplete && !isAwaited }
}

const head = (lines: readonly string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)

/** How a body says where it ends; seldom truthfully. */
function frame(random: Random, body: Buffer): { lines: string[]; bytes: Buffer; isComplete: boolean } {
  const exact = { lines: [`content-length: ${body.length}`], bytes: body, isComplete: true }
  if (random.chance(0.85)) return exact
  const hex = body.length.toString(16)
  const chunked = Buffer.concat([Buffer.from(`${hex}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
  return random.pick([
    { lines: ['transfer-encoding: chunked'], bytes: chunked, isComplete: body.length > 0 },
    { lines: ['transfer-encoding: chunked'], bytes: Buffer.from('zz\r\nx'), isComplete: false },
    { lines: ['transfer-encoding: chunked'], bytes: Buffer.from('ffffffffffffffff\r\nx'), isComplete: false },
    { lines: [`content-length: ${body.length + 5}`], bytes: body, isComplete: false },
    { lines: ['content-length: -1'], bytes: body, isComplete: false },
    { lines: ['content-length: 99999999999999999999'], bytes: body, isComplete: false },
    { lines: [`content-length: ${body.length}`, 'content-length: 0'], bytes: body, isComplete: false },
    { lines: [...exact.lines, 'transfer-encoding: chunked'], bytes: chunked, isComplete: false },
  ])
}

/** Bytes that are hardly HTTP, or not at all. */
export function rawRequest(random: Random): FuzzRequest {
  const bytes = random.pick([
    () => randomBytes(random, random.between(1, 2_000)),
    () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => Buffer.concat([Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]), randomBytes(random, 512)]),
    () => Buffer.from(`GET ${random.pick(ODD_ENCODINGS)} HTTP/1.1\r\nhost: x\r\n\r\n`),
    () => Buffer.from('GET http://127.0.0.1:1/v1/locks/a HTTP/1.1\r\nhost: x\r\n\r\n'),
    () => Buffer.from('CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n\r\n'),
    () => Buffer.from('OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n'),
    () => Buffer.from('GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n'),
    () => Buffer.from('GET /healthz\r\n\r\n'),
    () => Buffer.from('GET  /healthz  HTTP/1.1\r\nhost: x\r\n\r\n'),
    () => Buffer.from('GET /healthz HTTP/1.1\nhost: x\n\n'),
    () => Buffer.from(`GET /${'a'.repeat(random.between(1, 200_000))} HTTP/1.1\r\nhost: x\r\n\r\n`),
    () =>
      Buffer.from(`GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(random.between(1, 300_000))}\r\n\r\n`),
    () => Buffer.from('\r\n\r\n\r\n'),
    () =>
      Buffer.from(`GET /healthz HTTP/1.1\r\nhost: x\r\n${'x: y\r\n'.repeat(random.between(1, 20_000))}\r\n`),
    () =>
      Buffer.from(`GET /v1/locks/${pool(random)} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(random.between(2, 20))),
    () => truncated(routeRequest(random).bytes, random),
    () => flipped(routeRequest(random).bytes, random),
  ])()
  return { kind: 'raw bytes', bytes, isComplete: false }
}

function truncated(bytes: Buffer, random: Random): Buffer {
  return bytes.subarray(0, random.below(bytes.length))
}

function flipped(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes)
  for (let times = random.between(1, 5); times > 0; times--)
    changed[random.below(changed.length)] = random.below(256)
  return changed
}
