import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allows, entriesOf, type KeyEntry, parseKeys } from '../../worker/router/keys.ts'

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')
const entry = (fields: Partial<KeyEntry> = {}): KeyEntry => {
  return { name: 'one', hash: hashOf('secret'), locks: ['*'], verbs: ['*'], ...fields }
}

describe('BATON_KEYS', () => {
  it('is a list of keys', () => {
    const entries = [entry(), entry({ name: 'two', locks: ['jobs', 'stock-*'], verbs: ['acquire', 'read'] })]
    expect(parseKeys(JSON.stringify(entries))).toEqual({ type: 'keys', entries })
  })

  it.each([[undefined], [null], [''], [' \n']])(
    'that is absent (%j) lets nobody in and says what to do',
    text => {
      const source = parseKeys(text)
      expect(source.type).toBe('closed')
      expect(source).toHaveProperty('detail', expect.stringContaining('npx @baton-lock/baton key'))
    },
  )

  it.each([
    ['nonsense', 'body'],
    ['[]', 'body'],
    ['{}', 'body'],
    [JSON.stringify([{ ...entry(), hash: 'abc' }]), '0.hash'],
    [JSON.stringify([{ ...entry(), hash: hashOf('x').toUpperCase() }]), '0.hash'],
    [JSON.stringify([{ ...entry(), verbs: ['write'] }]), '0.verbs.0'],
    [JSON.stringify([{ ...entry(), verbs: [] }]), '0.verbs'],
    [JSON.stringify([{ ...entry(), locks: ['*a'] }]), '0.locks.0'],
    [JSON.stringify([{ ...entry(), locks: [''] }]), '0.locks.0'],
    [JSON.stringify([entry(), { ...entry(), key: 'secret' }]), '1.key'],
  ])('that is none lets nobody in and says where it is wrong: %s', (text, where) => {
    const source = parseKeys(text)
    expect(source.type).toBe('closed')
    expect(source).toHaveProperty('detail', expect.stringContaining(where))
  })

  it('takes what `baton key` makes', async () => {
    const command = join(import.meta.dirname, '../../cli/main.ts')
    const output = execFileSync(process.execPath, [
      command,
      'key',
      '--name',
      'shop',
      '--locks',
      'a,b-*',
      '--verbs',
      'acquire,read',
    ])
    const [, key, made] = /^key +(\S+)\nentry +(.+)\n$/.exec(output.toString())!
    expect(key).toMatch(/^baton_[A-Za-z0-9_-]{43}$/)
    const source = parseKeys(`[${made}]`)
    if (source.type !== 'keys') throw new Error(source.type)
    const found = await entriesOf(source.entries, key!)
    expect(found).toEqual([
      { name: 'shop', hash: hashOf(key!), locks: ['a', 'b-*'], verbs: ['acquire', 'read'] },
    ])
  })
})

describe('a key', () => {
  it('is found by its hash, in all its entries, and no other is', async () => {
    const [first, second, other] = [
      entry(),
      entry({ name: 'two' }),
      entry({ name: 'three', hash: hashOf('other') }),
    ]
    const entries = [other, first, second]
    expect(await entriesOf(entries, 'secret')).toEqual([first, second])
    expect(await entriesOf(entries, 'other')).toEqual([other])
    for (const key of ['', 'Secret', 'secret ', hashOf('secret')])
      expect(await entriesOf(entries, key)).toEqual([])
  })

  it.each<[string[], string, boolean]>([
    [['*'], 'jobs', true],
    [['jobs'], 'jobs', true],
    [['jobs'], 'jobs-2', false],
    [['jobs'], 'order', false],
    [['jobs*'], 'jobs', true],
    [['jobs*'], 'jobs-2', true],
    [['jobs*'], 'order', false],
    [['a', 'b'], 'b', true],
  ])('for the locks %j, asked about %s: %s', (locks, lock, isAllowed) => {
    expect(allows([entry({ locks })], 'read', lock)).toBe(isAllowed)
  })

  it('needs lock and verb in one entry', () => {
    const entries = [entry({ locks: ['a'], verbs: ['acquire'] }), entry({ locks: ['*'], verbs: ['read'] })]
    expect(allows(entries, 'acquire', 'a')).toBe(true)
    expect(allows(entries, 'read', 'b')).toBe(true)
    expect(allows(entries, 'acquire', 'b')).toBe(false)
    expect(allows(entries, 'metrics', null)).toBe(false)
    expect(allows([entry({ locks: ['a'], verbs: ['metrics'] })], 'metrics', null)).toBe(true)
    expect(allows([], 'read', 'a')).toBe(false)
  })
})
