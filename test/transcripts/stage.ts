/**
 * Three participants or more on a stage: the scene says what its users do, what the network loses and which
 * timer comes first. The cluster of the protocol's tests interprets the effects.
 */
import type { Json } from '../../shared/json.ts'
import type { Emitted, Members, Protocol } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { Cluster, type Sent } from '../protocols/wme/cluster.ts'
import { Recorder } from './recorder.ts'

export type Matcher = (sent: Sent) => boolean

type MessageType = WmeMessage['type']

export const ofType =
  (...types: MessageType[]): Matcher =>
  sent =>
    types.includes(sent.message.body.type)

export const to =
  (...participants: number[]): Matcher =>
  sent =>
    participants.includes(sent.to)

export const among =
  (...participants: number[]): Matcher =>
  sent =>
    participants.includes(sent.to) && participants.includes(sent.from)

export const both =
  (one: Matcher, other: Matcher): Matcher =>
  sent =>
    one(sent) && other(sent)

const everything: Matcher = () => true

export class Stage {
  private readonly recorder = new Recorder()
  private readonly cluster: Cluster
  private readonly fences = new Map<string, { participant: number; fence: number }>()

  /** `majorityFirst` is off unless a scene is about it: it would only make the others longer. */
  constructor(protocol: Protocol<WmeState, WmeMessage>, participants = 3, majorityFirst = false) {
    this.cluster = new Cluster(this.recorder.record(protocol), {
      participants,
      options: { majorityFirst },
      timing: { confirmMs: 1_000 },
      checkRecovery: true,
    })
    this.recorder.isOn = true
  }

  get text(): string {
    return this.recorder.lines.join('\n')
  }

  say(text: string): void {
    this.recorder.say(text)
  }

  /** Runs something that is not worth reading. */
  unrecorded(run: () => void): void {
    this.recorder.isOn = false
    run()
    this.recorder.isOn = true
  }

  // ---- users

  try(participant: number, user: string, confirm = false): void {
    this.note(participant, this.cluster.try(participant, user, { confirm }))
  }

  issue(user: string, opId: string, operation: Json = [{ increment: 'visits' }]): void {
    const { participant, fence } = this.grantOf(user)
    this.cluster.user(participant, { type: 'issue', user, fence, opId, operation })
  }

  exit(user: string): void {
    const { participant, fence } = this.grantOf(user)
    this.cluster.user(participant, { type: 'exit', user, fence })
  }

  withdraw(participant: number, user: string): void {
    this.cluster.user(participant, { type: 'withdraw', user })
  }

  // ---- operators

  /** A machine that is no member yet. */
  add(): void {
    this.cluster.add()
  }

  change(participant: number, id: string, members: Members, base = 0): void {
    this.cluster.user(participant, { type: 'change-members', request: id, id, base, members })
  }

  private grantOf(user: string): { participant: number; fence: number } {
    for (const { participant, event } of this.cluster.emitted) this.note(participant, [event])
    const grant = this.fences.get(user)
    if (grant === undefined) throw new Error(`${user} was never let in`)
    return grant
  }

  private note(participant: number, emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      if (event.type === 'crit') this.fences.set(event.user, { participant, fence: event.fence })
    }
  }

  // ---- the network, and time

  deliver(matches: Matcher = everything): void {
    this.cluster.deliver(matches)
  }

  /** Takes messages out of the network, and says so. */
  lose(matches: Matcher): Sent[] {
    const lost = this.cluster.take(matches)
    for (const sent of lost) this.recorder.lost(sent.from, sent.to, sent.message.body)
    return lost
  }

  isolate(participant: number): void {
    this.cluster.isolate(participant)
  }

  reconnect(participant: number): void {
    this.cluster.reconnect(participant)
  }

  /** From now on the network loses what matches, without a word. */
  loseFromNowOn(matches: Matcher): void {
    this.cluster.lose(matches)
  }

  fire(participant: number, timer: string): void {
    this.cluster.fire(participant, timer)
  }

  run(durationMs: number): void {
    this.cluster.run(durationMs)
  }

  pass(ms: number): void {
    this.cluster.now += ms
  }

  crash(participant: number): void {
    this.cluster.crash(participant)
  }

  wipe(participant: number): void {
    this.cluster.wipe(participant)
  }

  start(participant: number): void {
    this.cluster.start(participant)
  }

  /**
   * `by` waits, and neither it nor `other` gets an answer from the owner. With three participants they are a
   * majority, and `by` seals.
   */
  suspect(owner: number, by: number, other: number): void {
    this.deliver(both(ofType('request'), to(other)))
    this.lose(to(owner))
    this.fire(other, 'suspect')
    this.fire(by, 'suspect')
    this.lose(to(owner))
    this.deliver(ofType('pre-vote', 'pre-vote-reply'))
  }

  /** The same, and they decide who is the next owner. Nothing of it has left for the old one yet. */
  replaceOwner(owner: number, by: number, other: number): void {
    this.suspect(owner, by, other)
    this.deliver(both(among(by, other), ofType('new-epoch', 'prepare', 'promise', 'accept', 'accepted')))
  }
}
