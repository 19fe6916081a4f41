import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatCursor,
  formatGrantId,
  formatTicketId,
  formatUser,
  parseCursor,
  parseGrantId,
  parseTicketId,
  USER_BYTES,
  USER_PATTERN,
} from '../../shared/api/ids.ts'
import { USER } from './fake.ts'

const bytes = fc.uint8Array({ minLength: USER_BYTES, maxLength: USER_BYTES })
const participant = fc.integer({ min: 1, max: 13 })
const fence = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

describe('ids', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(participant, fence, bytes, (id, fence, random) => {
        const user = formatUser(random)
        expect(user).toMatch(USER_PATTERN)
        expect(parseGrantId(formatGrantId(id, fence, user))).toEqual({ participant: id, fence, user })
        expect(parseTicketId(formatTicketId(id, user))).toEqual({ participant: id, user })
      }),
    )
  })

  it('of grants are no ids of tickets, and the other way round', () => {
    fc.assert(
      fc.property(participant, fence, bytes, (id, fence, random) => {
        const user = formatUser(random)
        expect(parseTicketId(formatGrantId(id, fence, user))).toBeNull()
        expect(parseGrantId(formatTicketId(id, user))).toBeNull()
      }),
    )
  })

  it('hold 128 random bits and lose none of them', () => {
    fc.assert(
      fc.property(bytes, bytes, (left, right) => {
        const isSame = left.every((byte, index) => byte === right[index])
        expect(formatUser(left) === formatUser(right)).toBe(isSame)
      }),
    )
    expect(() => formatUser(new Uint8Array(8))).toThrow('16 bytes')
  })

  it.each([
    '',
    'nonsense',
    USER,
    `0-1-${USER}`,
    `01-1-${USER}`,
    `10000-1-${USER}`,
    `1-01-${USER}`,
    `1--1-${USER}`,
    `1-1.5-${USER}`,
    `1-9007199254740993-${USER}`,
    `1-1-${USER}x`,
    `1-1-${USER.slice(1)}`,
    `1-1-${USER.slice(1)}!`,
    ` 1-1-${USER}`,
    `1-1-${USER}\n`,
  ])('that are none: %j', text => {
    expect(parseGrantId(text)).toBeNull()
    expect(parseTicketId(text.replace(/^(\d+)-1-/, '$1!'))).toBeNull()
  })
})

describe('cursors', () => {
  it('hold any key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), key => {
        expect(formatCursor(key)).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(parseCursor(formatCursor(key))).toBe(key)
      }),
    )
    expect(parseCursor(formatCursor('\ufeffa'))).toBe('\ufeffa')
  })

  it.each(['', 'a', 'abcde', '?', 'YQ==', '_w'])('that are none: %j', text => {
    expect(parseCursor(text)).toBeNull()
  })
})
