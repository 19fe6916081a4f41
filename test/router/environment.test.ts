/** Every variable is checked before anything is served: a typo must not reach a lock. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { checkEnvironment } from '../../worker/check-environment.ts'
import type { BatonEnvironment } from '../../worker/environment.ts'
import * as environment from '../../worker/environment.ts'
import { refuseMisconfigured } from '../../worker/misconfigured.ts'

const PARTICIPANT = {} as BatonEnvironment['PARTICIPANT']
const SECRET = 'a secret of these tests'
const urls = (...listed: string[]) => JSON.stringify(listed.map(url => ({ url })))
const REQUEST = new Request('https://a.example/healthz', { headers: { 'x-request-id': 'mine' } })
const mistakesIn = (variables: object) =>
  checkEnvironment({ PARTICIPANT, ...variables } as BatonEnvironment).mistakes

afterEach(() => {
  vi.restoreAllMocks()
})

describe('right are', () => {
  it.each([
    [{}],
    [{ BATON_PROTOCOL: '', BATON_PARTICIPANTS: '', BATON_EVENTS_KEPT: '', BATON_KEYS: '', BATON_OPEN: '' }],
    [{ BATON_PEER_SECRET: '', BATON_PEER_SECRET_OLD: '', BATON_URL: '' }],
    [{ BATON_PROTOCOL: 'maekawa', BATON_EVENTS_KEPT: '0', BATON_OPEN: 'true' }],
    [{ BATON_PARTICIPANTS: '[{}]', BATON_OPEN: 'false' }],
    [{ BATON_PARTICIPANTS: '[{"location": "weur"}, {"location": null}, {}]', BATON_EVENTS_KEPT: '1000000' }],
    [{ BATON_PARTICIPANTS: urls('http://127.0.0.1:1', 'http://127.0.0.1:2/x'), BATON_PEER_SECRET: SECRET }],
    [{ BATON_PEER_SECRET: SECRET, BATON_PEER_SECRET_OLD: `${SECRET}, old`, BATON_URL: 'https://a.example' }],
    [{ BATON_URL: 'https://a.example, https://b.example/locks' }],
    [{ BATON_CORS_ORIGINS: '' }],
    [{ BATON_CORS_ORIGINS: '*' }],
    [{ BATON_CORS_ORIGINS: 'https://shop.example, http://localhost:3000', BATON_OPEN: 'true' }],
    [{ BATON_KEYS: `[{"name": "n", "hash": "${'0'.repeat(64)}", "locks": ["*"], "verbs": ["*"]}]` }],
  ])('%j', variables => {
    expect(mistakesIn(variables)).toEqual([])
  })
})

describe('wrong are', () => {
  it.each([
    ['BATON_PROTOCOL', 'wme2', 'wme-2'],
    ['BATON_PROTOCOL', 'WME-2', 'none of'],
    ['BATON_PARTICIPANTS', '[', 'JSON list'],
    ['BATON_PARTICIPANTS', '{}', 'JSON list'],
    ['BATON_PARTICIPANTS', '3', 'JSON list'],
    ['BATON_PARTICIPANTS', '[]', 'empty'],
    ['BATON_PARTICIPANTS', JSON.stringify(Array(14).fill({})), 'at most 13 items'],
    ['BATON_PARTICIPANTS', '[{"location": "europe"}]', '0.location'],
    ['BATON_PARTICIPANTS', '[{"locaton": "weur"}]', '0.locaton is not a known field'],
    ['BATON_PARTICIPANTS', '[{"url": 5}]', '0.url'],
    ['BATON_PARTICIPANTS', urls('127.0.0.1:1'), 'http(s)://'],
    ['BATON_PARTICIPANTS', urls('a.example'), 'http(s)://'],
    ['BATON_PARTICIPANTS', urls('ftp://a.example'), 'http(s)://'],
    ['BATON_PARTICIPANTS', urls('http://me:word@a.example'), 'password'],
    ['BATON_PARTICIPANTS', urls('http://a.example/?x=1'), 'query'],
    ['BATON_PARTICIPANTS', urls('http://a.example', 'http://A.example:80/'), 'twice'],
    ['BATON_PARTICIPANTS', '[{"url": "http://a.example"}, {}]', 'with and without'],
    ['BATON_EVENTS_KEPT', '-1', 'whole number'],
    ['BATON_EVENTS_KEPT', '1e3', 'whole number'],
    ['BATON_EVENTS_KEPT', '1.5', 'whole number'],
    ['BATON_EVENTS_KEPT', 'many', 'whole number'],
    ['BATON_EVENTS_KEPT', '1000001', '1000000'],
    ['BATON_KEYS', 'baton_key', 'not a list of keys'],
    ['BATON_KEYS', '[]', 'not a list of keys'],
    ['BATON_OPEN', 'yes', 'neither true nor false'],
    ['BATON_OPEN', 'TRUE', 'neither true nor false'],
    ['BATON_PEER_SECRET', 'short', 'shorter than 16'],
    ['BATON_URL', 'here', 'http(s)://'],
    ['BATON_URL', 'http://a.example,b', 'http(s)://'],
    ['BATON_CORS_ORIGINS', 'shop.example', 'origin such as'],
    ['BATON_CORS_ORIGINS', 'null', 'origin such as'],
    ['BATON_CORS_ORIGINS', 'ftp://shop.example', 'origin such as'],
    ['BATON_CORS_ORIGINS', 'https://shop.example/', 'is written https://shop.example'],
    ['BATON_CORS_ORIGINS', 'https://Shop.example:443', 'is written https://shop.example'],
    ['BATON_CORS_ORIGINS', 'https://*.shop.example', 'list each origin'],
    ['BATON_CORS_ORIGINS', '*, https://shop.example', 'stands alone'],
  ])('%s = %s', (name, value, said) => {
    const rest = name === 'BATON_PEER_SECRET' ? {} : { BATON_PEER_SECRET: SECRET }
    const mistakes = mistakesIn({ ...rest, [name]: value })
    expect(mistakes).toHaveLength(1)
    expect(mistakes[0]).toMatch(new RegExp(`^${name} `))
    expect(mistakes[0]).toContain(said)
  })

  it.each([
    [
      'urls without a secret',
      { BATON_PARTICIPANTS: urls('http://a.example') },
      'BATON_PEER_SECRET is not set',
    ],
    [
      'every page where nobody needs a key',
      { BATON_OPEN: 'true', BATON_CORS_ORIGINS: '*' },
      'any page could use this service',
    ],
    ['an old secret alone', { BATON_PEER_SECRET_OLD: SECRET }, 'without BATON_PEER_SECRET'],
    ['an old secret that is short', { BATON_PEER_SECRET: SECRET, BATON_PEER_SECRET_OLD: 'short' }, 'shorter'],
    ['keys that nobody needs', { BATON_OPEN: 'true', BATON_KEYS: '[]' }, 'BATON_OPEN lets everybody in'],
    ['no participants', { PARTICIPANT: undefined }, 'PARTICIPANT is not bound'],
    ['a variable that is not text', { BATON_EVENTS_KEPT: 5 }, 'BATON_EVENTS_KEPT is not text'],
  ])('%s', (_, variables, said) => {
    expect(mistakesIn(variables).join()).toContain(said)
  })

  it('several at once, each with its name', () => {
    expect(mistakesIn({ BATON_PROTOCOL: 'x', BATON_OPEN: 'x' })).toHaveLength(2)
  })

  it('but no secret is repeated', () => {
    const secrets = { BATON_PEER_SECRET: 'hunter2', BATON_KEYS: '["hunter2"]', BATON_URL: 'hunter2' }
    expect(mistakesIn(secrets).join()).not.toContain('hunter2')
  })
})

it('a variable that nobody knows is warned of', () => {
  const report = checkEnvironment({ PARTICIPANT, BATON_PARTICIPANT: '[]', OTHER: 'x' } as BatonEnvironment)
  expect(report).toMatchObject({ mistakes: [], warnings: [expect.stringContaining('BATON_PARTICIPANT ')] })
})

describe('a service with a mistake', () => {
  it('answers 503 with the name of the variable, and tells the log once', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const env = { PARTICIPANT, BATON_PROTOCOL: 'wme2' }
    const response = refuseMisconfigured(env, REQUEST)!
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).not.toBeNull()
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(response.headers.get('x-request-id')).toBe('mine')
    const problem = (await response.json()) as { code: string; detail: string; requestId: string }
    expect([problem.code, problem.requestId]).toEqual(['misconfigured', 'mine'])
    expect(problem.detail).toContain('BATON_PROTOCOL')
    expect(refuseMisconfigured(env, REQUEST)?.status).toBe(503)
    expect(error).toHaveBeenCalledTimes(1)
  })

  it('and one without serves', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    expect(refuseMisconfigured({ PARTICIPANT, BATON_TYPO: 'x' } as BatonEnvironment, REQUEST)).toBeNull()
    expect(warn).toHaveBeenCalledTimes(1)
  })
})

describe('what is set means', () => {
  it('the default when it is empty', () => {
    const empty = { PARTICIPANT, BATON_PROTOCOL: '', BATON_EVENTS_KEPT: '', BATON_PARTICIPANTS: '' }
    expect(environment.defaultConfiguration(empty, 1)).toEqual(
      environment.defaultConfiguration({ PARTICIPANT }, 1),
    )
    expect(environment.eventsKept(empty)).toBe(environment.eventsKept({ PARTICIPANT }))
    expect(environment.eventsKept({ PARTICIPANT, BATON_EVENTS_KEPT: '0' })).toBe(0)
  })

  it('two secrets, of which the first signs', () => {
    const secrets = { PARTICIPANT, BATON_PEER_SECRET: 'new', BATON_PEER_SECRET_OLD: 'old' }
    expect(environment.peerSecrets(secrets)).toEqual(['new', 'old'])
    expect(environment.peerSecrets({ PARTICIPANT })).toEqual([])
    expect(environment.ownUrls({ PARTICIPANT, BATON_URL: 'http://a, http://b' })).toEqual([
      'http://a',
      'http://b',
    ])
  })

  it('open only if it says so', () => {
    expect(
      ['true', 'false', '', undefined].map(value => environment.isOpen({ PARTICIPANT, BATON_OPEN: value! })),
    ).toEqual([true, false, false, false])
  })
})
