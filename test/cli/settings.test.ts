/** Where address and key come from, and where a key never goes. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { UsageError } from '../../cli/arguments.ts'
import { DEFAULT_URL, defaultPath, readSettings } from '../../cli/settings.ts'
import { jsonOf, useBaton } from './baton.ts'

const home = mkdtempSync(join(tmpdir(), 'baton-settings-'))
afterAll(() => rmSync(home, { recursive: true }))
const environment = { XDG_CONFIG_HOME: home }
const path = join(home, 'baton', 'config.json')

function write(settings: unknown, mode = 0o600, file = path): void {
  mkdirSync(join(home, 'baton'), { recursive: true })
  writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings))
  chmodSync(file, mode)
}

beforeEach(() => rmSync(path, { force: true }))

describe('the address', () => {
  it('is of the command line, else of the environment, else of the file, else that of this machine', () => {
    write({ url: 'https://file.example.com/' })
    const all = { ...environment, BATON_URL: 'https://environment.example.com' }
    expect(readSettings({ url: 'http://127.0.0.1:1' }, all).url).toEqual({
      value: 'http://127.0.0.1:1',
      source: '--url',
    })
    expect(readSettings({}, all).url).toEqual({
      value: 'https://environment.example.com',
      source: 'BATON_URL',
    })
    expect(readSettings({}, environment).url).toEqual({ value: 'https://file.example.com', source: path })
    expect(readSettings({}, { ...environment, BATON_URL: '' }).url.source).toBe(path)
    rmSync(path)
    expect(readSettings({}, environment).url).toEqual({ value: DEFAULT_URL, source: 'the default' })
  })

  it.each([
    'baton.example.com',
    'ftp://baton.example.com',
    'https://key@baton.example.com',
    'https://x.example/?key=1',
    '',
  ])('is refused if it is not one: %s', url => {
    expect(() => readSettings({ url }, environment)).toThrow(UsageError)
  })
})

describe('the key', () => {
  it('is of the command line, else of the environment, else of the file', () => {
    write({ url: 'https://baton.example.com', key: 'of-the-file' })
    expect(readSettings({ key: 'given' }, { ...environment, BATON_KEY: 'set' }).key).toEqual({
      value: 'given',
      source: '--key',
    })
    expect(readSettings({}, { ...environment, BATON_KEY: 'set' }).key).toEqual({
      value: 'set',
      source: 'BATON_KEY',
    })
    expect(readSettings({}, environment).key).toEqual({ value: 'of-the-file', source: path })
  })

  it('of the file goes to the address of the file alone', () => {
    write({ url: 'https://baton.example.com/', key: 'of-the-file' })
    expect(readSettings({ url: 'https://elsewhere.example.com' }, environment).key).toBeNull()
    expect(readSettings({}, { ...environment, BATON_URL: 'https://elsewhere.example.com' }).key).toBeNull()
    expect(readSettings({ url: 'https://baton.example.com' }, environment).key?.value).toBe('of-the-file')
  })

  it('makes a warning if others can read it, in the file or on its way', () => {
    write({ url: 'https://baton.example.com', key: 'of-the-file' }, 0o644)
    expect(readSettings({}, environment).warnings).toEqual([expect.stringContaining(`chmod 600 ${path}`)])
    write({ url: 'https://baton.example.com' }, 0o644)
    expect(readSettings({}, environment).warnings).toEqual([])
    expect(readSettings({ url: 'http://baton.example.com', key: 'k' }, environment).warnings).toEqual([
      expect.stringContaining('without encryption'),
    ])
    for (const url of [
      'http://127.0.0.1:8787',
      'http://localhost:8787',
      'http://[::1]:8787',
      'https://x.example',
    ]) {
      expect(readSettings({ url, key: 'k' }, environment).warnings, url).toEqual([])
    }
  })
})

describe('the file', () => {
  it('is where programs of a user keep their settings', () => {
    expect(defaultPath({ XDG_CONFIG_HOME: '/x' }, 'linux')).toBe(join('/x', 'baton', 'config.json'))
    expect(defaultPath({}, 'darwin')).toMatch(/\.config.baton.config\.json$/)
    expect(defaultPath({ APPDATA: '/roaming' }, 'win32')).toBe(join('/roaming', 'baton', 'config.json'))
  })

  it('may be another one, which must be there', () => {
    const other = join(home, 'other.json')
    write({ url: 'https://other.example.com' }, 0o600, other)
    expect(readSettings({ config: other }, environment).url.value).toBe('https://other.example.com')
    expect(readSettings({}, { ...environment, BATON_CONFIG: other }).url.source).toBe(other)
    expect(() => readSettings({ config: join(home, 'none.json') }, environment)).toThrow(/there is no file/)
  })

  it.each(['{', '[]', 'null', '{"uri": "https://x.example"}', '{"url": 7}', '{"key": "k"}'])(
    'is refused: %s',
    text => {
      write(text)
      expect(() => readSettings({}, environment)).toThrow(UsageError)
    },
  )
})

describe('baton config', () => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization)
    response.writeHead(401, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ code: 'unauthenticated', detail: 'The key is not known.' }))
  })
  const listening = new Promise<string>(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
  afterAll(() => server.close())
  const baton = useBaton(() => '')

  it('says where address and key come from, saves them, and shows no key', async () => {
    const url = await listening
    const file = join(baton.home, 'baton', 'config.json')
    const nothing = jsonOf(await baton.run(['config', '--json']))
    expect(nothing).toEqual({ url: DEFAULT_URL, urlFrom: 'the default', key: null, keyFrom: null, file })
    const key = 'baton_0123456789abcdef'
    const saved = await baton.run(['--key', key, 'config', '--url', url, '--save'])
    expect(saved).toMatchObject({ code: 0, stderr: '' })
    expect(saved.stdout).not.toContain(key)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(jsonOf(await baton.run(['config', '--json']))).toMatchObject({ url, urlFrom: file, keyFrom: file })

    const refused = await baton.run(['get', 'a', 'b'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toBe(`baton: The service at ${url} does not know this key (from ${file}).\n`)
    expect(asked.at(-1)).toBe(`Bearer ${key}`)
    const stranger = url.replace('127.0.0.1', 'localhost')
    expect((await baton.run(['get', 'a', 'b', '--url', stranger])).stderr).toContain('wants a key')
    expect(asked.at(-1)).toBeUndefined()
  })
})
