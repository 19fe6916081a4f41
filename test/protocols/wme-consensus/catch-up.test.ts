/** A participant that was away gets what it missed, from the log or from a snapshot. */
import { describe, expect, it } from 'vitest'
import { keyValue } from '../../../shared/resource/key-value.ts'
import {
  appliedAt,
  enter,
  eventsOf,
  exit,
  FORMS,
  holder,
  issue,
  ofType,
  REPLACEMENT_MS,
  toldTo,
  valueAt,
  wish,
} from './scenes.ts'
import { Table } from './table.ts'

/** Participant 1 enters this many critical sections, with one operation in each. */
function keepBusy(table: Table, stays: number): void {
  for (let stay = 0; stay < stays; stay++) {
    const by = enter(table, 1, `busy-${stay}`)
    issue(table, by, `busy-op-${stay}`)
    table.deliver()
    exit(table, by)
    table.deliver()
  }
}

const hashAt = (table: Table, participant: number): string => keyValue.hash(table.view(participant).cells!)

/** What it has decided, as it would tell it. */
function decisionAt(table: Table, participant: number): { decided: number; digest: string } {
  const { machine, log } = table.state(participant).durable
  return { decided: machine.applied, digest: log.at(-1)!.digest }
}

describe.each(FORMS)('%s', consensus => {
  it('the log, if it still has what is missing', () => {
    const table = new Table({ participants: 3, consensus })
    table.crash(3)
    keepBusy(table, 20)
    table.take(() => true)
    table.start(3)
    wish(table, 3, 'cid')
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'cid')).toEqual(['crit'])
    expect(appliedAt(table, 3)).toEqual(appliedAt(table, 1))
    expect(eventsOf(table, 3, 'restored')).toEqual([])
  })

  it('a snapshot and what follows, if it does not', () => {
    const limits = { logKept: 8, entriesPerMessage: 4 }
    const table = new Table({ participants: 3, consensus, limits })
    table.crash(3)
    keepBusy(table, 20)
    expect(table.state(1).durable.log.length).toBeLessThanOrEqual(12)
    table.take(() => true)
    table.start(3)
    wish(table, 3, 'cid')
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'cid')).toEqual(['crit'])
    expect(eventsOf(table, 3, 'restored').length).toBeGreaterThan(0)
    expect(hashAt(table, 3)).toBe(hashAt(table, 1))
    // A restart finds the same in storage.
    table.crash(3)
    table.start(3)
    expect(hashAt(table, 3)).toBe(hashAt(table, 1))
    expect(table.state(3).durable.replica).toEqual(table.state(1).durable.replica)
  })

  it('a deaf peer that always speaks first does not keep it behind', () => {
    const table = new Table({ participants: 5, consensus })
    table.isolate(3)
    keepBusy(table, 3)
    table.reconnect(3)
    const { decided, digest } = decisionAt(table, 1)
    table.lose(({ to }) => to === 4)
    wish(table, 3, 'cid')
    table.take(() => true)
    for (let interval = 0; interval < 3 && table.view(3).committed < decided; interval++) {
      for (const from of [4, 2]) {
        const body = { type: 'decision', ballot: 0, decided, digest } as const
        table.hand({ from, to: 3, message: { format: 1, configuration: 1, body } })
      }
      table.deliver(sent => ofType('catch-up-request', 'catch-up')(sent))
      if (table.view(3).committed < decided) table.fire(3, 'repeat')
    }
    expect(table.view(3).committed).toBe(decided)
  })

  it('a snapshot leaves what was accepted after it', () => {
    const table = new Table({ participants: 5, consensus, limits: { logKept: 1 } })
    keepBusy(table, 3)
    const before = table.state(3).durable.machine.applied
    wish(table, 1, 'ann')
    table.user(1, { type: 'read', request: 'r1' })
    const [first, second] = [2, 3].map(to => table.take(sent => sent.to === to && ofType('propose')(sent)))
    table.hand(first![0]!)
    table.hand(second![0]!)
    table.deliver(({ to }) => to === 1)
    expect(toldTo(table, 'ann')).toEqual(['crit'])
    table.hand(second![1]!)
    expect(table.view(3)).toMatchObject({ committed: before, sequence: before + 2 })
    const body = { type: 'catch-up-request', decided: 0 } as const
    table.hand({ from: 3, to: 1, message: { format: 1, configuration: 1, body } })
    table.deliver(ofType('snapshot-offer', 'snapshot-request', 'snapshot-page'))
    expect(eventsOf(table, 3, 'restored')).toMatchObject([{ sequence: before + 1 }])
    expect(table.view(3)).toMatchObject({ committed: before + 1, sequence: before + 2 })
  })

  it('the coordinator learns that a participant has caught up, and needs it for its majority', () => {
    const table = new Table({ participants: 3, consensus, limits: { logKept: 1 } })
    keepBusy(table, 1)
    table.isolate(3)
    keepBusy(table, 5)
    table.reconnect(3)
    table.crash(2)
    wish(table, 1, 'ann')
    table.run(2_000)
    expect(eventsOf(table, 3, 'restored')).toHaveLength(1)
    expect(toldTo(table, 'ann')).toEqual(['crit'])
  })

  it('the coordinator learns that a participant has everything though its log no longer reaches back', () => {
    const table = new Table({ participants: 3, consensus, limits: { logKept: 1 } })
    keepBusy(table, 1)
    table.lose(({ from, message }) => from === 3 && message.body.type === 'ack')
    keepBusy(table, 5)
    table.run(1_000)
    table.crash(2)
    wish(table, 1, 'ann')
    // Its proposal is lost, and all that it repeats is a snapshot that nobody needs.
    table.take(ofType('propose'))
    table.lose(() => false)
    table.run(5_000)
    expect(toldTo(table, 'ann')).toEqual(['crit'])
  })

  it('a participant that learns a decision has promised its ballot, or it would confirm another one', () => {
    const table = new Table({ participants: 5, consensus })
    table.isolate(1, 5)
    wish(table, 2, 'ann')
    table.run(REPLACEMENT_MS)
    table.reconnect(1, 5)
    const { promised } = table.state(2).durable.acceptor
    expect(table.state(5).durable.acceptor.promised).toBeLessThan(promised)
    const body = { type: 'catch-up-request', decided: 0 } as const
    table.hand({ from: 5, to: 2, message: { format: 1, configuration: 1, body } })
    table.deliver(ofType('catch-up'))
    expect(table.view(5).committed).toBe(table.view(2).committed)
    expect(table.state(5).durable.acceptor.promised).toBe(promised)
    // The old coordinator cannot count on it any more.
    wish(table, 1, 'bob')
    table.deliver(sent => ofType('propose')(sent) && sent.to === 5)
    const answers = table.take(sent => sent.from === 5 && sent.to === 1).map(({ message }) => message.body)
    expect(answers).toEqual([{ type: 'reject', promised }])
  })

  it("a user whose grant ended in a jump is told once, and its operation's fate is in the results", () => {
    for (const isDecided of [true, false]) {
      const table = new Table({ participants: 5, consensus, limits: { logKept: 4 } })
      const ann = enter(table, 4, 'ann')
      if (!isDecided) table.isolate(4)
      issue(table, ann, 'op-1')
      if (isDecided) table.deliver(({ message }) => message.body.type === 'request')
      table.isolate(4)
      wish(table, 2, 'bob')
      table.run(REPLACEMENT_MS)
      exit(table, holder(table, 2, 'bob'))
      table.deliver()
      keepBusy(table, 20)
      table.reconnect(4)
      table.run(REPLACEMENT_MS)
      expect(eventsOf(table, 4, 'restored').length).toBeGreaterThan(0)
      expect(toldTo(table, 'ann')).toEqual(isDecided ? ['crit', 'outcome', 'ejected'] : ['crit', 'ejected'])
      const { pending } = eventsOf(table, 4, 'ejected')[0]!
      expect(pending).toEqual(isDecided ? undefined : { opId: 'op-1', outcome: 'not-applied' })
      expect(valueAt(table, 4)).toBe(isDecided ? 21 : 20)
      expect(hashAt(table, 4)).toBe(hashAt(table, 1))
    }
  })

  it('if the results are gone too, the outcome is unknown', () => {
    const table = new Table({ participants: 5, consensus, limits: { logKept: 4, resultsKept: 3 } })
    const ann = enter(table, 4, 'ann')
    issue(table, ann, 'op-1')
    table.deliver(({ message }) => message.body.type === 'request')
    table.isolate(4)
    wish(table, 2, 'bob')
    table.run(REPLACEMENT_MS)
    exit(table, holder(table, 2, 'bob'))
    table.deliver()
    keepBusy(table, 20)
    table.reconnect(4)
    table.run(REPLACEMENT_MS)
    expect(eventsOf(table, 4, 'ejected')[0]!.pending).toEqual({ opId: 'op-1', outcome: 'unknown' })
  })

  it('a decision that got lost is asked for, and after a while nobody says anything', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 1, 'ann')
    issue(table, ann, 'op-1')
    table.deliver(ofType('propose'))
    table.deliver(({ to }) => to === 1)
    table.take(() => true)
    expect([1, 2, 3, 4, 5].map(id => appliedAt(table, id).length)).toEqual([1, 0, 0, 0, 0])
    table.run(20_000)
    for (const id of [1, 2, 3, 4, 5]) {
      expect(appliedAt(table, id)).toEqual(['op-1'])
      expect(table.timers(id)).toEqual(id === 1 ? ['ttl'] : [])
    }
  })

  it('a coordinator that reaches nobody stops repeating once nobody waits', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 1, 'ann', { ttlMs: 60_000 })
    table.crash(2)
    issue(table, ann, 'op-1')
    table.deliver()
    table.run(59_000)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'outcome'])
    expect(table.timers(1)).toEqual(['ttl'])
    expect(table.timers(3)).toEqual([])
  })
})
