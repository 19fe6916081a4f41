/** What a lock waits for, in words. */
import { describe, expect, it } from 'vitest'
import {
  duration,
  explainLock,
  type LockSight,
  type ParticipantSight,
} from '../../shared/api/explain-lock.ts'

type Fields = Partial<ParticipantSight>
const LOCATIONS = ['weur', 'enam', 'apac', null, 'oc']

const participant = (id: number, fields: Fields = {}): ParticipantSight => ({
  id,
  location: LOCATIONS[id - 1] ?? null,
  reachable: true,
  phase: 'idle',
  epoch: 1,
  sequence: 7,
  owner: 2,
  suspects: [],
  ...fields,
})
const away: Fields = {
  reachable: false,
  phase: null,
  epoch: null,
  sequence: null,
  owner: null,
  suspects: null,
}
const among = (...fields: readonly Fields[]) => fields.map((one, index) => participant(index + 1, one))
const three = among({}, {}, {})
const nobody = { count: 0, forMs: null }
const held = { participant: 2, owner: 'checkout-7', heldMs: 41_200, leftMs: 18_800 }
const free: LockSight = { guardsState: true, participants: three, holder: null, waiting: nobody }

describe('the explanation of a lock that is', () => {
  it.each<[string, LockSight, string]>([
    ['free', free, 'free'],
    [
      'held, with one participant silent',
      {
        guardsState: true,
        participants: among({}, {}, { ...away, silentMs: 12_000 }),
        holder: held,
        waiting: { count: 3, forMs: null },
      },
      'held by checkout-7 at 2 (enam) for 41 s, expires in 19 s, 3 wait; participant 3 is silent for 12 s',
    ],
    [
      'held by somebody without a name, where one waits',
      { ...free, holder: { ...held, owner: undefined }, waiting: { count: 1, forMs: 2_000 } },
      'held at 2 (enam) for 41 s, expires in 19 s, 1 waits (for 2 s)',
    ],
    [
      'held beyond its time',
      { ...free, holder: { ...held, leftMs: -5, heldMs: null } },
      'held by checkout-7 at 2 (enam), its time is over',
    ],
    [
      'held where there is no location',
      { ...free, participants: among({}, {}, {}, {}), holder: { ...held, participant: 4 } },
      'held by checkout-7 at 4 for 41 s, expires in 19 s',
    ],
    [
      'waited for while nobody holds it',
      { ...free, waiting: { count: 2, forMs: 350 } },
      'not held, 2 wait (the first for 350 ms)',
    ],
    [
      'with a participant that does not say whether it is held',
      { ...free, participants: among({}, away, {}), waiting: { count: 3, forMs: 5_000 } },
      'the token is at 2 (enam), which does not say whether it is held, 3 wait (the first for 5 s); participant 2 is silent',
    ],
    [
      'known by one of an earlier epoch to be elsewhere than it is',
      { ...free, participants: among({ owner: 3, epoch: 2 }, {}, away) },
      'the token is at 3 (apac), which does not say whether it is held; participant 3 is silent',
    ],
    [
      'known by one with an older log to be elsewhere than it is',
      { ...free, participants: among({ owner: 1, sequence: 8 }, away, {}) },
      'free; participant 2 is silent',
    ],
    [
      'of a protocol without a token',
      { ...free, participants: among({ owner: null }, { owner: null }, { owner: null }) },
      'free',
    ],
    [
      'of a protocol without a token, with one participant silent',
      { ...free, guardsState: false, participants: among({ ...away, silentMs: 2_000 }, { owner: null }) },
      'nobody who answers holds it, but somebody at 1 (weur) may; participant 1 is silent for 2 s; ' +
        'no majority: 1 of 2 take part, 2 are needed to change anything',
    ],
    [
      'of a protocol without a token, waited for, with two participants silent',
      {
        ...free,
        guardsState: false,
        participants: among({ owner: null }, away, { owner: null }, away, { owner: null }),
        waiting: { count: 1, forMs: null },
      },
      'nobody who answers holds it, but somebody at 2 (enam) or 4 may, 1 waits; ' +
        'participant 2 is silent; participant 4 is silent',
    ],
    [
      'of a protocol without a token, where one that lost everything takes no part',
      {
        ...free,
        guardsState: false,
        participants: among({ owner: null }, { ...away, trouble: 'it heals' }, { owner: null }),
      },
      'free; participant 2 does not take part: it heals',
    ],
    [
      'without a majority',
      {
        guardsState: true,
        participants: among({ owner: 1 }, away, { ...away, silentMs: 300_000 }),
        holder: null,
        waiting: nobody,
      },
      'free; participant 2 is silent; participant 3 is silent for 5 min; ' +
        'no majority: 1 of 3 take part, 2 are needed to change anything',
    ],
    [
      'being born, or parked',
      {
        guardsState: true,
        participants: among(...[1, 2, 3].map(() => ({ ...away, trouble: 'the lock is being born' }))),
        holder: null,
        waiting: nobody,
      },
      'free; participant 1 does not take part: the lock is being born; ' +
        'participant 2 does not take part: the lock is being born; ' +
        'participant 3 does not take part: the lock is being born; ' +
        'no majority: 0 of 3 take part, 2 are needed to change anything',
    ],
    [
      'taking a participant back',
      { ...free, participants: among({}, {}, { phase: 'joining' }) },
      'free; participant 3 is being taken back',
    ],
    [
      'about to go on without its owner',
      { ...free, participants: among({ suspects: [2] }, {}, { suspects: [2] }) },
      'free; participant 2 is suspected by 1 and 3',
    ],
    [
      'not reachable at all',
      { ...free, participants: among(away, away, away) },
      'no participant answers, so nobody knows who holds it',
    ],
  ])('%s', (_, sight, explanation) => {
    expect(explainLock(sight)).toBe(explanation)
  })

  it('never says that something is free of which it cannot know', () => {
    const sight = { ...free, participants: among({}, { ...away, trouble: 'it heals' }, {}) }
    expect(explainLock(sight)).not.toMatch(/^free/)
  })
})

it.each([
  [-3, '0 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [41_499, '41 s'],
  [119_999, '120 s'],
  [120_000, '2 min'],
  [7_199_000, '120 min'],
  [7_200_000, '2 h'],
])('%i ms: %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})
