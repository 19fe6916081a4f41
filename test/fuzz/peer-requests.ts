/**
 * At the path where participants answer each other: without a signature, or with one that is wrong in some
 * way.
 */
import { createHmac } from 'node:crypto'
import type { Random } from '../simulator/random.ts'
import type { FuzzRequest } from './http-requests.ts'
import { ODD_NUMBERS, ODD_TEXTS, oddJson, randomBytes } from './junk.ts'

const PATHS = [
  '/call',
  '/peer',
  '/watch',
  '/watch?since=1e400',
  '/session?user=x',
  '/',
  '',
  '/peer/',
  '/%00',
  '//peer',
  '/birth',
]
const ADDRESSES = ['@', '@1', 'weur@', 'weur@2', '@0', '@99999', 'weur', '']
const METHODS = ['POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']

export function peerRequest(random: Random): FuzzRequest {
  const method = random.pick(METHODS)
  const path = `/participant${random.pick(PATHS)}`
  const body = method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : bodyOf(random)
  const lines = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', ...signature(random, method, path, body)]
  if (body.length > 0) lines.push('content-type: application/json', `content-length: ${body.length}`)
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
  return { kind: `peer ${path}`, bytes, isComplete: method === 'GET' || method === 'HEAD' || body.length > 0 }
}

function bodyOf(random: Random): Buffer {
  if (random.chance(0.01)) return Buffer.alloc(random.between(1, 4) * 1_000_000, 'x')
  return random.pick([
    () => Buffer.from('{"type":"messages","from":1,"messages":[{"type":"invoke"}]}'),
    () => Buffer.from(`{"type":"messages","from":${random.pick(ODD_NUMBERS)},"messages":[]}`),
    () => Buffer.from('{"type":"prepare","ballot":1e400}'),
    () => Buffer.from('{"type":"found","configuration":{"participants":[]},"bornAt":0}'),
    () => Buffer.from('{"call":{"type":"status"},"lock":"x"}'),
    () => Buffer.from(oddJson(random)),
    () => randomBytes(random, random.between(1, 500)),
  ])()
}

/** The right form with the wrong secret, the wrong time, the wrong length, or something else altogether. */
function signature(random: Random, method: string, path: string, body: Buffer): string[] {
  if (random.chance(0.3)) return []
  const time = random.pick([String(Date.now()), '0', String(Date.now() + 3_600_000), ...ODD_NUMBERS])
  const lock = random.chance(0.8)
    ? `fuzz-${random.below(20)}`
    : encodeURIComponent(safe(random.pick(ODD_TEXTS)))
  const participant = random.pick(['1', '2', '99', '-1', 'NaN', ''])
  const text = [method, path, lock, participant, time, ''].join('\n')
  const right = createHmac('sha256', 'not the secret of the peers').update(text).update(body).digest('hex')
  const value = random.pick([
    right,
    right.toUpperCase(),
    right.slice(1),
    `${right}00`,
    'x',
    '0'.repeat(64),
    '\u00e9',
  ])
  return [
    `x-baton-lock: ${lock}`,
    `x-baton-participant: ${participant}`,
    ...(random.chance(0.3) ? [`x-baton-address: ${random.pick(ADDRESSES)}`] : []),
    `x-baton-time: ${time}`,
    `x-baton-signature: ${value}`,
  ].filter(() => random.chance(0.95))
}

const safe = (text: string): string => text.replaceAll(/[\ud800-\udfff]/g, '?')
