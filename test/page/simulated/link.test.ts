/** Links to the simulated page hold everything, and a bad one is answered with a sentence. */
import { describe, expect, it } from 'vitest'
import { type Action, readActions, writeActions } from '../../../page/simulated/engine/actions.ts'
import { type Link, readLink, writeLink } from '../../../page/simulated/link.ts'

const read = (hash: string) => readLink(new URLSearchParams(hash.slice(hash.indexOf('?') + 1)))

const ACTIONS: readonly Action[] = [
  { type: 'visit', participant: 1 },
  { type: 'stay', participant: 2 },
  { type: 'commute', participant: 13 },
  { type: 'operate', participant: 1 },
  { type: 'leave', participant: 1 },
  { type: 'kill', participant: 1 },
  { type: 'restart', participant: 1 },
  { type: 'wipe', participant: 1 },
  { type: 'pause', participant: 1 },
  { type: 'resume', participant: 1 },
  { type: 'eject', participant: 1 },
  { type: 'cut', from: 1, to: 2 },
  { type: 'heal', from: 2, to: 1 },
  { type: 'suspect', from: 3, to: 1 },
  { type: 'members', members: [1, 2, 4] },
]

describe('a link', () => {
  const setup = { protocol: 'wme-1', participants: 5, seed: 42, ttlMs: 300 } as const
  const actions = ACTIONS.map((action, index) => ({ after: index * 3, action }))

  it.each<Link>([
    { source: { kind: 'scenario', name: 'two-tokens' }, position: 17 },
    { source: { kind: 'scenario', name: 'nice-run' }, position: null },
    { source: { kind: 'run', setup, actions }, position: 60 },
    { source: { kind: 'run', setup: { ...setup, ttlMs: 3_600_000 }, actions: [] }, position: null },
    { source: { kind: 'seed', setup: { ...setup, ttlMs: 3_600_000 }, members: true }, position: 1_000 },
    { source: { kind: 'seed', setup: { ...setup, ttlMs: 3_600_000 }, members: false }, position: null },
  ])('comes back as it was: $source.kind', link => {
    expect(read(writeLink(link))).toEqual(link)
  })

  it('is short: one action takes a few letters', () => {
    expect(writeActions(actions.slice(0, 3))).toBe('0t1.3h2.6a13')
  })

  it('without parameters shows the first scenario', () => {
    expect(readLink(new URLSearchParams())).toEqual({
      source: { kind: 'scenario', name: 'nice-run' },
      position: null,
    })
  })

  it.each([
    ['scenario=nothing', /no scenario/],
    ['protocol=paxos', /no protocol/],
    ['protocol=wme-2&n=14', /“n” is a number from 1 to 13/],
    ['protocol=wme-2&n=0', /“n”/],
    ['protocol=wme-2&n=3.5', /“n”/],
    ['protocol=wme-2&seed=-1', /“seed”/],
    ['protocol=wme-2&ttl=1', /“ttl”/],
    ['protocol=wme-2&at=x', /“at”/],
    ['protocol=wme-2&do=1q1', /not known: 1q1/],
    ['protocol=wme-2&do=1k99', /not known/],
    ['protocol=wme-2&do=1c1-1', /not known/],
    ['protocol=wme-2&do=1c1-2-3', /not known/],
    ['protocol=wme-2&do=5k1.2k1', /not in order/],
    ['protocol=wme-2&do=99999k1', /not known/],
    [`protocol=wme-2&do=${'1k1.'.repeat(500)}1k1`, /at most 400/],
    ['protocol=redlock&sim=all', /Redlock/],
  ])('that is bad is refused in words: %s', (text, sentence) => {
    expect(readLink(new URLSearchParams(text))).toEqual({ problem: expect.stringMatching(sentence) })
  })

  it('has no actions for an empty text', () => {
    expect(readActions('')).toEqual([])
  })
})
