/** An open service serves its own machine: no page of another site, by whatever name it comes. */
import { describe, expect, it } from 'vitest'
import { refuseStrangers } from '../../worker/same-machine.ts'

const ask = (url: string, headers: { readonly [name: string]: string } = {}, listed: string[] = []) =>
  refuseStrangers(new Request(`${url}/v1/locks/a/eject`, { method: 'POST', headers }), {
    listed,
    loopback: true,
  })

describe('served are', () => {
  it.each([
    'http://127.0.0.1:8787',
    'http://localhost:8787',
    'http://LOCALHOST',
    'http://[::1]:8787',
    'http://127.1.2.3',
  ])('requests to %s', url => {
    expect(ask(url)).toBeNull()
  })

  it.each(['http://127.0.0.1:3000', 'http://localhost', 'https://localhost:4430', 'http://[::1]:1'])(
    'pages of %s',
    origin => {
      expect(ask('http://127.0.0.1:8787', { origin })).toBeNull()
    },
  )

  it('a client behind a binding, but no page', () => {
    expect(ask('https://baton')).toBeNull()
    expect(ask('https://baton', { origin: 'https://a.example' })?.status).toBe(403)
  })

  it('pages of the origins that the service allows', () => {
    expect(ask('http://127.0.0.1', { origin: 'https://a.example' }, ['https://a.example'])).toBeNull()
    expect(ask('http://127.0.0.1', { origin: 'https://a.example' }, ['*'])).toBeNull()
  })
})

describe('refused are', () => {
  it.each([
    'http://baton',
    'https://baton.example',
    'http://a.example:8787',
    'http://127.0.0.1.a.example',
    'http://localhost.a.example',
    'http://alocalhost',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://128.0.0.1',
  ])('requests to %s', async url => {
    const response = ask(url)
    expect(response?.status).toBe(403)
    expect(await response!.json()).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('own machine'),
    })
  })

  it.each([
    'https://a.example',
    'http://127.0.0.1.a.example',
    'null',
    'http://localhost.a.example',
    'garbage',
    '',
  ])('pages of %s', async origin => {
    expect(ask('http://127.0.0.1:8787', { origin })?.status).toBe(403)
    expect(ask('http://127.0.0.1', { origin, upgrade: 'websocket' })?.status).toBe(403)
    expect(ask('http://127.0.0.1', { origin }, ['https://b.example'])?.status).toBe(403)
  })
})
