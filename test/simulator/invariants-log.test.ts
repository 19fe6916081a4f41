/** Each invariant about epochs and logs notices a hand-made state that breaks it. */
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../shared/protocols/wme/messages.ts'
import type { EpochRecord, PaxosRecord } from '../../shared/protocols/wme/state.ts'
import { expectViolation, grantEntry, keep, newborn, operationEntry } from './fixtures.ts'
import { Epochs } from './invariants/epochs.ts'
import { LogEntries } from './invariants/log-entries.ts'
import { Monotonic } from './invariants/monotonic.ts'

const GENESIS: EpochRecord = { epoch: 0, owner: 1, start: 0, sealed: false, incarnations: {} }

function decision(owner: number): Decision {
  return { owner, base: 0, digest: '', entries: [], incarnations: {} }
}

function acceptedIn(ballot: number, value: Decision): PaxosRecord {
  return { promised: ballot, accepted: { ballot, value }, ballot: 0 }
}

/** Epoch 0 of three participants has ended with this decision. */
function decided(value: Decision): Epochs {
  const epochs = new Epochs(3)
  epochs.entered(1, GENESIS)
  epochs.accepted(1, 0, acceptedIn(257, value))
  epochs.accepted(2, 0, acceptedIn(257, value))
  return epochs
}

describe('I1: decisions of an epoch are equal everywhere', () => {
  const next: EpochRecord = { ...GENESIS, epoch: 1, owner: 2 }

  it('accepts equal ones', () => {
    const epochs = decided(decision(2))
    expect(epochs.entered(1, next)).toBe(true)
    expect(epochs.entered(2, { ...next })).toBe(false)
  })

  it('notices another owner, another end and another decision', () => {
    expectViolation('I1', () => decided(decision(2)).entered(1, { ...next, owner: 3 }))
    expectViolation('I1', () => decided(decision(2)).entered(1, { ...next, start: 1 }))
    expectViolation('I1', () => decided(decision(2)).told(1, 0, decision(3)))
    const epochs = decided(decision(2))
    epochs.entered(1, next)
    expectViolation('I1', () => epochs.entered(2, { ...next, incarnations: { 3: 7 } }))
  })
})

describe('I18: one chosen value', () => {
  it('notices two values in one ballot', () => {
    const epochs = new Epochs(3)
    epochs.accepted(1, 0, acceptedIn(257, decision(1)))
    expectViolation('I18', () => epochs.accepted(2, 0, acceptedIn(257, decision(2))))
  })

  it('notices another value in a higher ballot, before and after the choice', () => {
    expectViolation('I18', () => decided(decision(2)).accepted(3, 0, acceptedIn(515, decision(3))))
    const epochs = new Epochs(3)
    epochs.accepted(1, 0, acceptedIn(257, decision(1)))
    epochs.accepted(3, 0, acceptedIn(515, decision(3)))
    expectViolation('I18', () => epochs.accepted(2, 0, acceptedIn(257, decision(1))))
  })

  it('notices an epoch that begins without a choice', () => {
    const epochs = new Epochs(3)
    epochs.entered(1, GENESIS)
    expectViolation('I18', () => epochs.entered(1, { ...GENESIS, epoch: 1 }))
  })
})

function logsOf(epochs = new Epochs(3)): LogEntries {
  epochs.entered(1, GENESIS)
  return new LogEntries(3, epochs)
}

describe('I2, I3: entries', () => {
  it('I2 notices two entries at one place', () => {
    const logs = logsOf()
    logs.added(newborn(1), grantEntry(1, 1, 2), GENESIS)
    expectViolation('I2', () => logs.added(newborn(2), grantEntry(1, 1, 3), GENESIS))
  })

  it('I3 notices a writer that is not the owner by the prefix', () => {
    expectViolation('I3', () => logsOf().added(newborn(1), grantEntry(1, 2, 2), GENESIS))
    const participant = newborn(1)
    participant.state.durable.log.push(grantEntry(1, 1, 2), operationEntry(2, 1))
    const logs = logsOf()
    logs.added(participant, grantEntry(1, 1, 2), GENESIS)
    expectViolation('I3', () => logs.added(participant, operationEntry(2, 1), GENESIS))
  })
})

describe('I4: nothing is appended after sealing', () => {
  it('notices an entry in a sealed epoch', () => {
    expectViolation('I4', () => logsOf().added(newborn(1), grantEntry(1, 1, 2), { ...GENESIS, sealed: true }))
  })
})

describe('I5: what a majority holds is in the decision', () => {
  it('notices an epoch that begins without it', () => {
    const logs = logsOf()
    for (const id of [1, 2]) logs.added(newborn(id), grantEntry(1, 1, 2), GENESIS)
    expect(logs.committedThrough).toBe(1)
    expectViolation('I5', () => logs.epochBegun({ ...GENESIS, epoch: 1 }))
  })

  it('notices that it is taken away, or replaced', () => {
    const logs = logsOf()
    for (const id of [1, 2]) logs.added(newborn(id), grantEntry(1, 1, 2), GENESIS)
    expectViolation('I5', () => logs.removed(newborn(1), 1))
    expectViolation('I5', () => logs.added(newborn(1), grantEntry(1, 1, 2, 1), GENESIS))
  })

  it('notices a majority for what was decided otherwise', () => {
    const epochs = decided(decision(2))
    const logs = logsOf(epochs)
    logs.added(newborn(1), grantEntry(1, 1, 2), GENESIS)
    epochs.entered(2, { ...GENESIS, epoch: 1, owner: 2 })
    logs.epochBegun({ ...GENESIS, epoch: 1, owner: 2 })
    expectViolation('I5', () => logs.added(newborn(3), grantEntry(1, 1, 2), GENESIS))
  })
})

describe('I5: the log reaches the start of its epoch', () => {
  it('notices one that does not', () => {
    const participant = newborn(1)
    participant.state.durable.epoch = { ...GENESIS, epoch: 1, start: 1 }
    expectViolation('I5', () => new Monotonic(3).stepped(participant))
  })
})

describe('I16: nothing falls', () => {
  const falls = (change: (participant: ReturnType<typeof newborn>) => unknown) => {
    const monotonic = new Monotonic(3)
    const participant = newborn(1)
    const { durable, soft } = participant.state
    durable.epoch = { ...GENESIS, epoch: 2, sealed: true }
    durable.progress = { applied: 1, droppedThrough: 0 }
    durable.paxos = { promised: 257, accepted: null, ballot: 0 }
    durable.log.push(grantEntry(1, 1, 2))
    soft.committed = 1
    monotonic.stepped(participant)
    change(participant)
    return () => {
      monotonic.stepped(participant)
      monotonic.crashed(participant)
    }
  }

  it('notices each of them', () => {
    expectViolation(
      'I16',
      falls(({ state }) => Object.assign(state.durable, { epoch: { ...GENESIS, epoch: 1 } })),
    )
    expectViolation(
      'I16',
      falls(({ state }) => Object.assign(state.durable, { epoch: { ...GENESIS, epoch: 2 } })),
    )
    expectViolation(
      'I16',
      falls(({ state }) => state.durable.log.pop()),
    )
    expectViolation(
      'I16',
      falls(({ state }) => Object.assign(state.soft, { committed: 0 })),
    )
    expectViolation(
      'I16',
      falls(({ state }) => Object.assign(state.durable, { progress: { applied: 0, droppedThrough: 0 } })),
    )
    expectViolation(
      'I16',
      falls(({ state }) =>
        Object.assign(state.durable, { paxos: { promised: 0, accepted: null, ballot: 0 } }),
      ),
    )
  })

  it('notices a promise that storage does not have', () => {
    const lost = falls(participant => keep(participant, 'epoch', { ...GENESIS, epoch: 2, sealed: true }))
    expectViolation('I16', lost)
  })
})
