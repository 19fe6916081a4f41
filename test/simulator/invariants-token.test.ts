/** Each invariant about the token, its users and their replicas notices a hand-made state that breaks it. */
import { describe, expect, it } from 'vitest'
import type { UserOutput } from '../../shared/protocols/protocol.ts'
import { fenceOf } from '../../shared/protocols/wme/fence.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { expectViolation, grantEntry, newborn, operationEntry } from './fixtures.ts'
import { Reads } from './invariants/reads.ts'
import { type AppliedOperation, SerialCopy } from './invariants/serial-copy.ts'
import { Token } from './invariants/token.ts'
import { Users } from './invariants/users.ts'

describe('the token', () => {
  it('I11 notices two that hold it in one epoch', () => {
    const token = new Token(3)
    token.stepped(newborn(1))
    const other = newborn(2)
    other.state.derived.owner = 2
    expectViolation('I11', () => token.stepped(other))
  })

  it('I12 notices a user inside that is not at the owner', () => {
    const participant = newborn(2)
    participant.state.durable.stub = { ...participant.state.durable.stub, phase: 'cs-idle' }
    expectViolation('I12', () => new Token(3).stepped(participant))
  })

  it('I13 notices two requests of one participant, a granted one, and one of its own', () => {
    const requests = (...queued: [participant: number, requestId: number][]) => {
      const participant = newborn(1)
      participant.state.soft.requests = queued.map(([id, requestId]) => ({ participant: id, requestId }))
      return () => new Token(3).stepped(participant)
    }
    expectViolation('I13', requests([2, 1], [2, 2]))
    expectViolation('I13', requests([2, 0]))
    expectViolation('I13', requests([1, 1]))
    requests([2, 1], [3, 1])()
  })

  it('I14 notices a request that nobody repeats', () => {
    const participant = newborn(2)
    participant.state.durable.stub = { ...participant.state.durable.stub, phase: 'requesting' }
    expectViolation('I14', () => new Token(3).stepped(participant))
  })
})

const RESULT = (value: number, revision: number) => ({ applied: true, results: [{ value, revision }] })

function applied(sequence: number, value: number, changed: Partial<AppliedOperation> = {}): AppliedOperation {
  const operation = [{ increment: 'counter' }]
  const result = RESULT(value, sequence)
  const opId = `op-${sequence}`
  return { type: 'applied', sequence, fence: 1, opId, operation, result, changes: [], ...changed }
}

describe('the serial copy', () => {
  const copyOf = (...entries: AppliedOperation[]) => {
    const serial = new SerialCopy(keyValue, 3, 8)
    for (const entry of entries) serial.applied(1, entry)
    return serial
  }

  it('I6 notices what is left out, repeated, different, or jumped back over', () => {
    expectViolation('I6', () => copyOf(applied(2, 1), applied(3, 2)).applied(2, applied(3, 2)))
    expectViolation('I6', () => copyOf(applied(2, 1), applied(2, 2, { opId: 'again' })))
    expectViolation('I6', () => copyOf(applied(2, 1)).applied(2, applied(2, 1, { opId: 'another' })))
    expectViolation('I6', () => copyOf(applied(2, 1)).restored(1, 1))
    const grants = copyOf()
    grants.granted(1, { type: 'granted', sequence: 1, fence: 1, to: 2 })
    expectViolation('I6', () => grants.granted(2, { type: 'granted', sequence: 1, fence: 1, to: 3 }))
  })

  it('I7 notices another state', () => {
    const serial = copyOf(applied(2, 1))
    serial.compareHash(1, serial.hashOf(1))
    expectViolation('I7', () => serial.compareHash(2, serial.hashOf(1)))
  })

  it('I8 notices another result, and an outcome that is not in C', () => {
    expectViolation('I8', () => copyOf(applied(2, 7)))
    expectViolation('I8', () => copyOf(applied(2, 1)).applied(2, applied(2, 1, { result: 0 })))
    expectViolation('I8', () => copyOf().outcome(1, 'op-2', 2, RESULT(1, 2)))
    expectViolation('I8', () => copyOf(applied(2, 1)).outcome(1, 'op-2', 2, RESULT(2, 2)))
    expectViolation('I8', () => copyOf(applied(2, 1)).outcome(2, 'op-2', 2, RESULT(1, 2)))
  })

  it('I8 knows an operation again by its id', () => {
    const again = applied(3, 1, { opId: 'op-2', result: RESULT(1, 2) })
    expect(copyOf(applied(2, 1), again).entries).toHaveLength(2)
    expectViolation('I8', () => copyOf(applied(2, 1), applied(3, 2, { opId: 'op-2' })))
  })

  it('I9 notices a failed operation in C, whichever comes first', () => {
    expectViolation('I9', () => copyOf(applied(2, 1)).failed(1, 1, 'op-2'))
    const serial = copyOf()
    serial.failed(1, 1, 'op-2')
    expectViolation('I9', () => serial.applied(2, applied(2, 1)))
  })

  it('I15 notices a fence that falls along C', () => {
    expectViolation('I15', () => copyOf(applied(2, 1, { fence: 3 }), applied(3, 2, { fence: 1 })))
  })
})

function crit(
  user: string,
  sequence: number,
  changed: Partial<Extract<UserOutput, { type: 'crit' }>> = {},
): UserOutput {
  const fence = fenceOf(0, sequence)
  return { type: 'crit', user, fence, epoch: 0, sequence, expiresAt: 0, confirmed: true, ...changed }
}

describe('users', () => {
  const usersOf = (...tries: string[]) => {
    const serial = new SerialCopy(keyValue, 3, 8)
    const users = new Users(serial)
    for (const user of tries) users.said(1, { type: 'try', user, ttlMs: 100, confirm: true })
    return { users, serial, participant: newborn(1) }
  }

  it('I10 notices a crit without a try, and more crit than try', () => {
    const { users, participant } = usersOf('u')
    expectViolation('I10', () => users.told(participant, crit('v', 1)))
    users.told(participant, crit('u', 1))
    users.told(participant, crit('u', 1))
    users.told(participant, { type: 'rem', user: 'u', fence: fenceOf(0, 1) })
    expectViolation('I10', () => users.told(participant, crit('u', 2)))
  })

  it('I10 notices an unconfirmed grant for a user that wants a confirmed one', () => {
    const { users, participant } = usersOf('u')
    expectViolation('I10', () => users.told(participant, crit('u', 1, { confirmed: false })))
  })

  it('I10 notices an end without a beginning, and a pending operation that is forgotten', () => {
    const { users, participant } = usersOf('u')
    const fence = fenceOf(0, 1)
    expectViolation('I10', () => users.told(participant, { type: 'rem', user: 'u', fence }))
    expectViolation('I10', () =>
      users.told(participant, { type: 'ejected', user: 'u', fence, reason: 'expired' }),
    )
    users.told(participant, crit('u', 1))
    const grant = { user: 'u', fence, epoch: 0, sequence: 1, ttlMs: 1, expiresAt: 1, ending: null }
    const pendingOperation = { opId: 'op', operation: [], sequence: 2 }
    Object.assign(participant.state.durable.stub, { phase: 'cs-issuing', grant, pendingOperation })
    users.stepped(participant)
    expectViolation('I10', () => users.told(participant, { type: 'rem', user: 'u', fence }))
    expectViolation('I10', () =>
      users.told(participant, { type: 'ejected', user: 'u', fence, reason: 'expired' }),
    )
    Object.assign(participant.state.durable.stub, { pendingOperation: { ...pendingOperation, opId: 'next' } })
    expectViolation('I10', () => users.stepped(participant))
  })

  it('I15 notices a fence that is given twice, or is not that of its place', () => {
    const { users, participant } = usersOf('u', 'v')
    expectViolation('I15', () => users.told(participant, crit('v', 1, { fence: 77 })))
    users.told(participant, crit('u', 1))
    expectViolation('I15', () => users.told(participant, crit('v', 1)))
  })

  it('A10 notices a user that is let in before what precedes is applied', () => {
    const behind = usersOf('u')
    behind.serial.applied(2, applied(2, 1))
    expectViolation('A10', () => behind.users.told(behind.participant, crit('u', 3)))
    const { users, participant } = usersOf('u')
    participant.state.durable.log.push(operationEntry(1, 1), grantEntry(2, 1, 1))
    expectViolation('A10', () => users.told(participant, crit('u', 2)))
  })

  it('a read sees what anybody was told before', () => {
    const serial = new SerialCopy(keyValue, 3, 8)
    serial.applied(2, applied(2, 1))
    const reads = new Reads(serial)
    const outcome = { type: 'outcome', user: 'u', fence: 1, opId: 'op-2', sequence: 2, result: null } as const
    reads.told(newborn(2), outcome, false)
    reads.said({ type: 'read', request: 'r' })
    expectViolation('read', () =>
      reads.told(newborn(1), { type: 'readable', request: 'r', sequence: 1 }, false),
    )
    reads.told(newborn(2), { type: 'readable', request: 'r', sequence: 2 }, false)
  })
})
