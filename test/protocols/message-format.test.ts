/** Versions that know nothing of changes of members refuse what says who the members are. */
import { describe, expect, it } from 'vitest'
import { formatOf } from '../../shared/protocols/message-format.ts'
import { MEMBERS_FORMAT, MESSAGE_FORMAT } from '../../shared/protocols/protocol.ts'

const set = { members: { 2: '', 4: 'weur@' }, config: 3, highest: 4, change: 'a' }

describe('a message that says who the members are', () => {
  it.each<[string, object]>([
    ['catch-up, elsewhere, snapshot-offer', { type: 'catch-up', set }],
    ['change, new-epoch', { type: 'new-epoch', change: { id: 'a' } }],
    ['accept, decision', { type: 'decision', value: { set } }],
    ['promise', { type: 'promise', accepted: { ballot: 1, value: { set } } }],
    ['snapshot-page', { type: 'snapshot-page', point: { set } }],
    ['a group', { type: 'announce', group: { members: {}, set } }],
    ['commands', { type: 'propose', commands: [{ kind: 'enter' }, { kind: 'members' }] }],
    ['accepted commands', { type: 'promise', entries: [{ command: { kind: 'members' } }] }],
  ])('%s: is refused by earlier versions', (_, message) => {
    expect(formatOf(message)).toBe(MEMBERS_FORMAT)
  })

  it.each<[string, object]>([
    ['an operation', { type: 'invoke', entries: [{ sequence: 1, kind: 'grant' }] }],
    ['a promise of nothing', { type: 'promise', accepted: null, entries: [] }],
    ['a page', { type: 'snapshot-page', point: null, cells: [] }],
    ['a group', { type: 'announce', group: { members: {} } }],
    ['commands', { type: 'propose', commands: [{ kind: 'enter' }] }],
  ])('%s: is understood by all if it does not', (_, message) => {
    expect(formatOf(message)).toBe(MESSAGE_FORMAT)
  })
})
