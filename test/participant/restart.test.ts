/**
 * A caller that waits for a lock to be born is answered, even if the participant loses its memory meanwhile.
 */
import { expect, it } from 'vitest'
import type { LedgerAnswer } from '../../shared/birth/ledger-types.ts'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { MESSAGE_FORMAT } from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { LEDGER_NAME } from '../../worker/participant/ledger/name.ts'
import { Participant } from '../../worker/participant/participant.ts'
import type { PeerAnswer } from '../../worker/participant/peers/requests.ts'
import type { Runtime } from '../../worker/participant/runtime.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'
import { MemoryRows } from './memory-rows.ts'

const SELF = firstOwnerOf(LOCK, 3) === 1 ? 2 : 1
const OTHER = 3
const ADDRESS = { lock: LOCK, id: SELF }

/** A process with a ledger that counts how often it was asked, and peers that answer nothing. */
class Alone {
  now = 1_700_000_000_000
  timeout: { readonly at: number; readonly run: () => void } | null = null
  questions = 0
  readonly participant: Participant
  #ids = 0

  constructor() {
    const usual = new MemoryPlatform(3).defaults(1)
    const participants = usual.participants.map(place => ({ ...place, url: `http://${place.id}.example` }))
    const runtime = this.#runtime()
    this.participant = new Participant(runtime, new Storage(runtime.rows, { eventsKept: 10 }), {
      defaults: () => ({ ...usual, participants }),
      resourceNamed: () => keyValue,
    })
  }

  #runtime(): Runtime {
    return {
      rows: new MemoryRows(),
      alarm: { set: () => {} },
      timeout: {
        set: (afterMs, run) => {
          this.timeout = { at: this.now + afterMs, run }
        },
      },
      peers: {
        ask: async (lock, _, request): Promise<PeerAnswer> => {
          if (lock !== LEDGER_NAME || request.type !== 'ask-ledger') return new Promise(() => {})
          const { generation, token } = request.question
          const incarnation = ++this.questions
          const verdict = incarnation === 1 ? 'entitled' : 'lost'
          const answer: LedgerAnswer = { generation, token, verdict, incarnation, known: {} }
          return { type: 'ledger-answer', answer }
        },
      },
      sockets: { all: () => [], withTag: () => undefined },
      now: () => this.now,
      random: () => 0.5,
      randomId: () => String(++this.#ids).padStart(32, '0'),
      background: work => void work.catch(() => {}),
      abort: reason => expect.unreachable(reason),
      log: () => {},
    }
  }

  async pass(ms: number): Promise<void> {
    const end = this.now + ms
    for (;;) {
      await new Promise(resolve => setImmediate(resolve))
      const { timeout } = this
      if (timeout === null || timeout.at > end) break
      this.now = Math.max(this.now, timeout.at)
      this.timeout = null
      timeout.run()
    }
    this.now = end
  }
}

it('a session that waits for a birth is answered, though the process has begun a new life', async () => {
  const alone = new Alone()
  let answer: ParticipantAnswer | null = null
  alone.participant
    .session(ADDRESS, 'u', () => {})
    .then(
      answered => {
        answer = answered
      },
      () => {},
    )
  await alone.pass(100)
  expect(alone.questions).toBe(1)
  // A peer knows of a later life of this process: what is in memory no longer counts.
  const body = { type: 'wake' } as const
  const message = { format: MESSAGE_FORMAT, generation: 1, known: { [SELF]: 2 }, body }
  await alone.participant.peer(ADDRESS, { type: 'messages', from: OTHER, messages: [message] })
  await alone.pass(60_000)
  expect(alone.questions).toBe(2)
  expect(answer).toMatchObject({ type: 'problem', code: 'no_quorum' })
})
