/** What the page makes of what a service tells: who holds the lock, where the token is, and what is news. */
import { describe, expect, it } from 'vitest'
import type { ParticipantInfo, Status } from '../../client/types.ts'
import { LockStory } from '../../page/live/story.ts'

const participant = (id: number, more: Partial<ParticipantInfo> = {}): ParticipantInfo => ({
  id,
  location: ['weur', 'enam', 'apac'][id - 1] ?? null,
  reachable: true,
  phase: 'idle',
  epoch: 0,
  sequence: 4,
  owner: 1,
  queue: 0,
  suspects: [],
  ...more,
})

const status = (more: Partial<Status> = {}): Status => ({
  lock: 'demo',
  protocol: 'wme-2',
  generation: 1,
  participants: [participant(1), participant(2), participant(3)],
  holder: null,
  waiting: { count: 0, since: null },
  explanation: 'free',
  ...more,
})

const told = (story: LockStory): string[] =>
  story.picture(0)!.news.map(({ kind, text }) => `${kind}: ${text}`)

/** A story that has begun. */
function begun(first = status()): LockStory {
  const story = new LockStory('demo')
  story.onStatus(first, 0)
  return story
}

describe('the holder', () => {
  const HOLDER = {
    participant: 2,
    fence: 7,
    owner: 'anna',
    since: new Date(1_000).toISOString(),
    expiresAt: new Date(9_000).toISOString(),
  }

  it('is whom the watch names, and is told of once, with its name as soon as that is known', () => {
    const story = begun()
    story.onEvent({ type: 'holder', sequence: 5, participant: 2, fence: 7 }, 1_200)
    expect(told(story)).toEqual([
      'grant: Somebody holds the lock at participant 2 (Eastern North America), with fence 7.',
    ])
    story.onEvent({ type: 'holder', sequence: 5, ...HOLDER }, 1_300)
    expect(told(story)).toEqual([
      'grant: anna holds the lock at participant 2 (Eastern North America), with fence 7.',
    ])
    expect(story.picture(0)!.holder).toEqual({
      participant: 2,
      fence: 7,
      owner: 'anna',
      since: 1_000,
      expiresAt: 9_000,
    })
    story.onEvent({ type: 'holder', sequence: 8, participant: null }, 2_000)
    expect(story.picture(0)!.holder).toBeNull()
    expect(told(story).at(-1)).toBe('release: anna no longer holds the lock.')
  })

  it('stays when a status comes late that knows of none, or of an earlier one', () => {
    const story = begun()
    story.onEvent({ type: 'holder', sequence: 5, ...HOLDER }, 1_200)
    story.onStatus(status(), 1_300)
    expect(story.picture(0)!.holder?.fence).toBe(7)
    story.onStatus(status({ holder: { ...HOLDER, fence: 6 } }), 1_300)
    expect(story.picture(0)!.holder?.fence).toBe(7)
    story.onStatus(status({ participants: [participant(1, { sequence: 8 })] }), 1_400)
    expect(story.picture(0)!.holder).toBeNull()
  })

  it('of a lock without a watch is what the status says', () => {
    const story = begun(status({ holder: HOLDER }))
    expect(story.picture(0)!.holder?.owner).toBe('anna')
    story.onStatus(status({ holder: { ...HOLDER, expiresAt: new Date(20_000).toISOString() } }), 5_000)
    expect(story.picture(0)!.holder?.expiresAt).toBe(20_000)
    story.onStatus(status(), 6_000)
    expect(story.picture(0)!.holder).toBeNull()
  })
})

describe('the token', () => {
  it('is where those say that have come furthest', () => {
    const participants = [
      participant(1, { epoch: 1, sequence: 9, owner: 1 }),
      participant(2, { epoch: 2, sequence: 3, owner: 3 }),
      participant(3, { epoch: 2, sequence: 2, owner: 2 }),
    ]
    expect(begun(status({ participants })).picture(0)!.token).toEqual({ at: 3, from: null })
  })

  it('is where the watch has told of a later grant, and nowhere if nobody knows', () => {
    const story = begun()
    story.onEvent({ type: 'holder', sequence: 5, participant: 3, fence: 5 }, 0)
    expect(story.picture(0)!.token?.at).toBe(3)
    const nobody = [participant(1, { owner: null })]
    expect(begun(status({ participants: nobody })).picture(0)!.token).toBeNull()
  })
})

describe('the state', () => {
  it('follows operations in the order of the keys, and a snapshot replaces it', () => {
    const story = begun()
    story.onState([
      { key: 'b', value: 1, revision: 2 },
      { key: 'a', value: 'x', revision: 9 },
    ])
    const op = { type: 'op', sequence: 5, fence: 3, opId: '1' } as const
    const older = { key: 'a', value: 'older', revision: 5 }
    story.onEvent(
      { ...op, changes: [{ key: 'c', value: [1], revision: 5 }, { key: 'b', deleted: true }, older] },
      0,
    )
    expect(story.picture(0)!.state).toEqual([
      { key: 'a', value: 'x', revision: 9 },
      { key: 'c', value: [1], revision: 5 },
    ])
    story.onEvent({ ...op, changes: [] }, 0)
    expect(told(story)).toEqual([
      'operation: c = [1], b is deleted, a = "older"',
      'operation: An operation under fence 3 changed nothing.',
    ])
    story.onEvent({ type: 'snapshot', sequence: 30, entries: [{ key: 'z', value: 0, revision: 30 }] }, 0)
    expect(story.picture(0)!.state.map(({ key }) => key)).toEqual(['z'])
  })

  it('keeps within its limits', () => {
    const story = begun()
    for (let sequence = 0; sequence < 1_500; sequence++) {
      const changes = [{ key: `key-${sequence}`, value: 1, revision: sequence }]
      story.onEvent({ type: 'op', sequence, fence: 1, opId: String(sequence), changes }, 0)
    }
    expect(story.picture(0)!.state).toHaveLength(1_000)
    expect(told(story)).toHaveLength(200)
    expect(told(story).at(-1)).toContain('key-1499')
  })
})

describe('news', () => {
  it('tells of epochs, suspicions, silences and members', () => {
    const all = [1, 2, 3, 5].map(id => participant(id))
    const story = begun(status({ participants: all }))
    const participants = [
      participant(1, { reachable: false, phase: null, epoch: null, sequence: null, suspects: null }),
      participant(2, { epoch: 3, suspects: [1] }),
      participant(5, { epoch: 3, suspects: [1] }),
      participant(4, { epoch: 3, location: 'oc' }),
    ]
    story.onStatus(status({ participants }), 5)
    expect(told(story)).toEqual([
      'epoch: Epoch 3 began: a majority agreed on one log and on who has the token now.',
      'fault: Participant 1 (Western Europe) does not answer.',
      'members: Participant 4 (Oceania) is a member now.',
      'suspicion: Participants 2 and 5 suspect participant 1.',
      'members: Participant 3 (Asia-Pacific) is no member any more.',
    ])
    const later = [participant(1), participant(2), participant(5, { suspects: [1] }), participant(4)]
    story.onStatus(status({ participants: later }), 6)
    expect(told(story).slice(5)).toEqual([
      'members: Participant 1 (Western Europe) answers again.',
      'members: Participant 2 hears participant 1 again.',
    ])
  })

  it('tells of ejections that came after the first count, and not of counters that began anew', () => {
    const story = begun()
    story.onEjections(new Map([['2 expired', 4]]), 0)
    story.onEjections(new Map([['2 expired', 4]]), 1)
    expect(told(story)).toEqual([])
    story.onEjections(
      new Map([
        ['2 expired', 5],
        ['1 operator', 2],
      ]),
      2,
    )
    story.onEjections(new Map([['2 expired', 0]]), 3)
    expect(told(story)).toEqual([
      'ejection: A holder at participant 2 lost the lock: its time to live was over.',
      'ejection: 2 holders at participant 1 lost the lock: an operator forced it out.',
    ])
  })

  it('begins anew with another lock of the same name', () => {
    const story = begun()
    story.onState([{ key: 'a', value: 1, revision: 1 }])
    story.onStatus(status({ generation: 2 }), 1)
    expect(story.picture(0)!.state).toEqual([])
    expect(told(story)).toEqual(['members: The lock was deleted, and there is a new one of the same name.'])
    story.onAbsence()
    expect(story.picture(0)).toBeNull()
  })
})
