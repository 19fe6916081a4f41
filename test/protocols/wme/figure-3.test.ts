/** Figure 3: the states of a stub. Every transition is shown, and no other exists. */
import { describe, expect, it } from 'vitest'
import { isTransition, type Phase } from '../../../shared/protocols/wme/figure-3-states.ts'
import { Cluster } from './cluster.ts'
import { all, among, ofType, to } from './matchers.ts'
import {
  ejectHolder,
  enter,
  exit,
  type Holder,
  holder,
  issue,
  phaseAt,
  protocols,
  replaceOwnerByHand,
  withdraw,
} from './scenes.ts'

const PHASES: Phase[] = ['idle', 'requesting', 'entering', 'cs-idle', 'cs-issuing']

interface Transition {
  readonly from: Phase
  readonly to: Phase
  readonly upon: string
  readonly participant: number
  /** Brings the participant to `from` and returns what brings it to `to`. */
  readonly prepare: (cluster: Cluster) => () => unknown
}

/** Participant 2 has been granted the token, with `confirm`, and nobody but it and the granter knows. */
function enteringAt2(cluster: Cluster): void {
  cluster.try(2, 'a', { confirm: true })
  cluster.deliver(all(ofType('request'), to(1)))
  cluster.deliver(all(ofType('invoke'), to(2)))
}

function issuingAt1(cluster: Cluster): Holder {
  const by = enter(cluster, 1, 'a')
  issue(cluster, by, 'x')
  return by
}

const TRANSITIONS: Transition[] = [
  {
    from: 'idle',
    to: 'requesting',
    upon: 'try',
    participant: 2,
    prepare: cluster => () => cluster.try(2, 'a'),
  },
  {
    from: 'requesting',
    to: 'cs-idle',
    upon: 'GRANTED',
    participant: 2,
    prepare: cluster => {
      cluster.try(2, 'a')
      return () => cluster.deliver()
    },
  },
  {
    from: 'requesting',
    to: 'entering',
    upon: 'GRANTED, to be confirmed',
    participant: 2,
    prepare: cluster => {
      cluster.try(2, 'a', { confirm: true })
      cluster.deliver(ofType('request'))
      return () => cluster.deliver(ofType('invoke'))
    },
  },
  {
    from: 'requesting',
    to: 'idle',
    upon: 'the withdrawal of the last user',
    participant: 2,
    prepare: cluster => {
      cluster.try(2, 'a')
      return () => withdraw(cluster, 2, 'a')
    },
  },
  {
    from: 'requesting',
    to: 'cs-idle',
    upon: 'a decision (dashed)',
    participant: 2,
    prepare: cluster => {
      cluster.try(2, 'a')
      cluster.isolate(1)
      return () => cluster.run(12_000)
    },
  },
  {
    from: 'entering',
    to: 'cs-idle',
    upon: 'the confirmation',
    participant: 2,
    prepare: cluster => {
      enteringAt2(cluster)
      return () => cluster.deliver()
    },
  },
  {
    from: 'entering',
    to: 'requesting',
    upon: 'a decision without the grant (dashed)',
    participant: 2,
    prepare: cluster => {
      enteringAt2(cluster)
      cluster.take(() => true)
      replaceOwnerByHand(cluster, 3, [4, 5], 'b')
      return () => cluster.deliver(all(ofType('decision'), to(2)))
    },
  },
  {
    from: 'entering',
    to: 'idle',
    upon: 'a withdrawal',
    participant: 2,
    prepare: cluster => {
      enteringAt2(cluster)
      return () => withdraw(cluster, 2, 'a')
    },
  },
  {
    from: 'cs-idle',
    to: 'cs-issuing',
    upon: 'issue',
    participant: 1,
    prepare: cluster => {
      const by = enter(cluster, 1, 'a')
      return () => issue(cluster, by, 'x')
    },
  },
  {
    from: 'cs-idle',
    to: 'idle',
    upon: 'exit',
    participant: 1,
    prepare: cluster => {
      const by = enter(cluster, 1, 'a')
      return () => exit(cluster, by)
    },
  },
  {
    from: 'cs-idle',
    to: 'idle',
    upon: 'an ejection (dashed)',
    participant: 1,
    prepare: cluster => {
      enter(cluster, 1, 'a')
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      return () => cluster.deliver(to(1))
    },
  },
  {
    from: 'cs-idle',
    to: 'idle',
    upon: 'an operator',
    participant: 1,
    prepare: cluster => {
      enter(cluster, 1, 'a')
      return () => ejectHolder(cluster, 1, 'request')
    },
  },
  {
    from: 'cs-issuing',
    to: 'cs-idle',
    upon: 'the outcome',
    participant: 1,
    prepare: cluster => {
      issuingAt1(cluster)
      return () => cluster.deliver()
    },
  },
  {
    from: 'cs-issuing',
    to: 'cs-idle',
    upon: 'a decision that contains the operation (dashed)',
    participant: 1,
    prepare: cluster => {
      issuingAt1(cluster)
      cluster.deliver(all(ofType('invoke'), to(3)))
      cluster.take(() => true)
      cluster.try(2, 'b')
      return () => {
        cluster.lose(sent => ['invoke', 'invoke-ack', 'ping', 'alive'].includes(sent.message.body.type))
        cluster.run(12_000)
      }
    },
  },
  {
    from: 'cs-issuing',
    to: 'idle',
    upon: 'an ejection (dashed)',
    participant: 1,
    prepare: cluster => {
      issuingAt1(cluster)
      cluster.take(() => true)
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      return () => cluster.deliver(to(1))
    },
  },
]

describe.each(protocols)('Figure 3 %s', (_name, protocol) => {
  it.each(TRANSITIONS)('$from -> $to upon $upon', ({ from, to, participant, prepare }) => {
    const cluster = new Cluster(protocol, { participants: 5 })
    const act = prepare(cluster)
    expect(phaseAt(cluster, participant)).toBe(from)
    act()
    expect(phaseAt(cluster, participant)).toBe(to)
  })

  it('a user that enters through the token here passes through requesting in one step', () => {
    const cluster = new Cluster(protocol, { participants: 5 })
    cluster.try(1, 'a')
    expect(phaseAt(cluster, 1)).toBe('cs-idle')
    exit(cluster, holder(cluster, 1, 'a'))
    cluster.try(1, 'b', { confirm: true })
    expect(phaseAt(cluster, 1)).toBe('entering')
    cluster.deliver(among(1, 2, 3, 4, 5))
    expect(phaseAt(cluster, 1)).toBe('cs-idle')
  })
})

describe('Figure 3', () => {
  it('has no other transition', () => {
    const shown = new Set(TRANSITIONS.map(({ from, to }) => `${from} -> ${to}`))
    for (const from of PHASES) {
      for (const to of PHASES) {
        expect([`${from} -> ${to}`, isTransition(from, to)]).toEqual([
          `${from} -> ${to}`,
          from === to || shown.has(`${from} -> ${to}`),
        ])
      }
    }
  })
})
