/**
 * I17, I19 and I20 notice a hand-made state that breaks them: what is said is durable, bounded and comes
 * back.
 */
import { describe, it } from 'vitest'
import type { UserOutput } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { EpochRecord } from '../../shared/protocols/wme/state.ts'
import { expectViolation, grantEntry, keep, newborn, operationEntry, SCENARIO } from './fixtures.ts'
import { Caps } from './invariants/caps.ts'
import { Durability } from './invariants/durability.ts'
import { Epochs } from './invariants/epochs.ts'
import { LogEntries } from './invariants/log-entries.ts'
import { checkRecovery } from './invariants/recovery.ts'
import type { WmeParticipant } from './invariants/wme-participant.ts'

function durability(): Durability {
  const epochs = new Epochs(3)
  return new Durability(epochs, new LogEntries(3, epochs))
}

const SEALED: EpochRecord = { epoch: 0, owner: 1, start: 0, sealed: true, incarnations: {} }

function says(message: WmeMessage, prepare: (participant: WmeParticipant) => void = () => {}): () => void {
  const participant = newborn(1)
  prepare(participant)
  return () => durability().sent(participant, message)
}

const GRANT = grantEntry(1, 1, 2)
const digest = ''
const value = { owner: 1, base: 0, digest, entries: [], incarnations: {} }

describe('I17: before a message, what it says is durable', () => {
  it('request: its number', () => {
    expectViolation('I17', says({ type: 'request', epoch: 0, participant: 1, requestId: 1 }))
    says({ type: 'request', epoch: 0, participant: 2, requestId: 1 })()
  })

  it('invoke: the entry, the stub and the pending operation', () => {
    const invoke = { type: 'invoke', epoch: 0, previous: 0, digest, entries: [GRANT], committed: 0 } as const
    expectViolation('I17', says(invoke))
    says(invoke, participant => keep(participant, 'log/1', GRANT))()
    const stillInside = (participant: WmeParticipant) => {
      keep(participant, 'log/1', GRANT)
      keep(participant, 'stub', { ...participant.state.durable.stub, phase: 'cs-idle' })
      participant.state.derived.owner = 2
    }
    expectViolation('I17', says(invoke, stillInside))
    const operation = operationEntry(1, 1)
    const forgotten = (participant: WmeParticipant) => {
      keep(participant, 'log/1', operation)
      keep(participant, 'stub', { ...participant.state.durable.stub, grant: { fence: 1 } })
    }
    expectViolation('I17', says({ ...invoke, entries: [operation] }, forgotten))
    expectViolation('I17', says({ ...invoke, entries: [], committed: 1 }))
  })

  it('acknowledgement: the log, and no seal (I4)', () => {
    expectViolation('I17', says({ type: 'invoke-ack', epoch: 0, length: 1, digest }))
    const sealed = (participant: WmeParticipant) => keep(participant, 'epoch', SEALED)
    expectViolation('I4', says({ type: 'invoke-ack', epoch: 0, length: 0, digest }, sealed))
    expectViolation(
      'I4',
      says({ type: 'invoke', epoch: 0, previous: 0, digest, entries: [], committed: 0 }, sealed),
    )
  })

  it('do-invoke: a majority', () => {
    expectViolation('I17', says({ type: 'do-invoke', epoch: 0, committed: 1, digest }))
  })

  it('new-epoch: the seal, and the whole log', () => {
    const newEpoch = { type: 'new-epoch', epoch: 0, committed: 0, digest, entries: [], owner: 1 } as const
    const message = { ...newEpoch, requesting: false, joins: {} }
    expectViolation('I17', says(message))
    const sealed = (participant: WmeParticipant) => keep(participant, 'epoch', SEALED)
    says(message, sealed)()
    const hides = (participant: WmeParticipant) => {
      sealed(participant)
      keep(participant, 'log/1', GRANT)
    }
    expectViolation('I17', says(message, hides))
  })

  it('prepare, promise, accept, accepted: the ballot and the value', () => {
    const nothing = (participant: WmeParticipant) =>
      keep(participant, 'paxos', { promised: 0, accepted: null, ballot: 0 })
    expectViolation('I17', says({ type: 'prepare', epoch: 0, ballot: 257 }, nothing))
    expectViolation('I17', says({ type: 'promise', epoch: 0, ballot: 257, accepted: null }, nothing))
    expectViolation('I17', says({ type: 'accept', epoch: 0, ballot: 257, value }, nothing))
    expectViolation('I17', says({ type: 'accepted', epoch: 0, ballot: 257 }, nothing))
    const promised = (participant: WmeParticipant) =>
      keep(participant, 'paxos', { promised: 257, accepted: { ballot: 257, value }, ballot: 257 })
    says({ type: 'prepare', epoch: 0, ballot: 257 }, promised)()
    says({ type: 'accepted', epoch: 0, ballot: 257 }, promised)()
    expectViolation('I17', says({ type: 'promise', epoch: 0, ballot: 257, accepted: null }, promised))
  })

  it('anything of the next epoch: that epoch; anything at all: membership', () => {
    expectViolation('I17', says({ type: 'alive', epoch: 1, length: 0 }))
    const joining = (participant: WmeParticipant) =>
      keep(participant, 'membership', { status: 'joining', incarnation: 2 })
    expectViolation('I17', says({ type: 'alive', epoch: 0, length: 0 }, joining))
    says({ type: 'join', incarnation: 2 }, joining)()
  })

  it('decision: that it was chosen', () => {
    expectViolation('I1', says({ type: 'decision', epoch: 0, value }))
  })

  it('catch-up: entries that are there, a snapshot of what is committed', () => {
    const catchUp = { type: 'catch-up', epoch: 0, epochOwner: 1, epochStart: 0, incarnations: {} } as const
    const rest = { previous: 0, digest, committed: 0, length: 1 } as const
    expectViolation('I17', says({ ...catchUp, ...rest, entries: [GRANT] }))
    const state = { sequence: 1, owner: 1, granted: [0, 0, 0, 0], digest, droppedThrough: 0, length: 1 }
    const point = { epoch: 0, epochOwner: 1, epochStart: 0, incarnations: {}, ...state }
    const page = {
      type: 'snapshot-page',
      name: '1.1',
      series: '1.1',
      number: 0,
      cells: [],
      results: [],
    } as const
    expectViolation('I17', says({ ...page, point }))
    says({ ...page, point: null })()
    expectViolation('I17', says({ type: 'snapshot-offer', epoch: 0, committed: 1, incarnations: {} }))
  })
})

describe('I17: before a user is told, it is durable', () => {
  const tells = (event: UserOutput, prepare: (participant: WmeParticipant) => void = () => {}) => {
    const participant = newborn(1)
    prepare(participant)
    return () => durability().told(participant, event)
  }
  const has = (fence: number) => (participant: WmeParticipant) =>
    keep(participant, 'stub', { ...participant.state.durable.stub, phase: 'cs-idle', grant: { fence } })

  it('crit: the grant; rem and ejected: its end; outcome: a majority and the application', () => {
    const crit = {
      type: 'crit',
      user: 'u',
      fence: 1,
      epoch: 0,
      sequence: 1,
      expiresAt: 0,
      confirmed: false,
    } as const
    expectViolation('I17', tells(crit))
    tells(crit, has(1))()
    expectViolation('I17', tells({ ...crit, confirmed: true }, has(1)))
    expectViolation('I17', tells({ type: 'rem', user: 'u', fence: 1 }, has(1)))
    expectViolation('I17', tells({ type: 'ejected', user: 'u', fence: 1, reason: 'expired' }, has(1)))
    expectViolation('I17', tells({ type: 'outcome', user: 'u', fence: 1, opId: 'o', sequence: 1, result: 0 }))
  })
})

describe('I19: caps', () => {
  const exceeds = (change: (participant: WmeParticipant) => unknown) => {
    const participant = newborn(1)
    change(participant)
    return () => {
      const caps = new Caps(3, SCENARIO.limits)
      caps.stepped(participant)
      caps.sampled(participant)
    }
  }
  const many = <Item>(item: Item): Item[] => new Array<Item>(100).fill(item)

  it('notices everything that grows', () => {
    exceeds(() => {})()
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.durable, { log: many(GRANT) })),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.durable, { waiters: many({ number: 1 } as never) })),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.durable.replica, { order: many('o') })),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.durable.replica, { order: ['o'] })),
    )
    const endings = many({ user: 'u', fence: 1, reason: 'released' } as const)
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.durable, { endings })),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.soft, { requests: many({ participant: 2, requestId: 1 }) })),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) =>
        Object.assign(state.soft, { ejects: many({ request: 'r', fence: 1, owner: 1 }) }),
      ),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.soft, { reads: many({} as never) })),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.soft, { newEpochs: many(null) })),
    )
    expectViolation(
      'I19',
      exceeds(({ state }) => Object.assign(state.soft, { joins: Object.fromEntries(many(0).entries()) })),
    )
    expectViolation(
      'I19',
      exceeds(participant => {
        keep(participant, 'left-over', 1)
        keep(participant, 'left-over too', 1)
      }),
    )
  })
})

describe('I20: the recovered state is a function of storage', () => {
  it('notices what was not saved, and what was not derived', () => {
    checkRecovery(newborn(1))
    const unsaved = newborn(1)
    unsaved.state.durable.stub = { ...unsaved.state.durable.stub, requestId: 1 }
    expectViolation('I20', () => checkRecovery(unsaved))
    const underived = newborn(1)
    underived.state.derived.owner = 3
    expectViolation('I20', () => checkRecovery(underived))
  })
})
