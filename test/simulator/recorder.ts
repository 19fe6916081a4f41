/**
 * Records the history that the judge gets, and compares the replicas with the one serial copy while it
 * happens.
 */
import type { History, HistoryEvent, HistoryHeader } from '../../shared/history/events.ts'
import type { ParticipantId, ReplicaOutput } from '../../shared/protocols/protocol.ts'
import type { Cells, Resource } from '../../shared/resource/resource.ts'
import { SerialCopy } from './invariants/serial-copy.ts'
import type { Scenario } from './scenario.ts'

/** Hashing looks at the whole state, so a replica's is compared only after this many operations. */
const HASH_EVERY = 8

/** What the header of a history says about its run. */
interface Recorded extends Pick<Scenario, 'machines' | 'localHandoffs'> {
  readonly options: { readonly protocol: string }
  readonly limits: Pick<Scenario['limits'], 'resultsKept'>
}

export class Recorder {
  readonly events: HistoryEvent[] = []
  readonly serial: SerialCopy
  readonly #header: HistoryHeader
  readonly #resource: Resource
  /** How often the step that is under way has changed the replica. */
  #inThisStep = 0

  constructor(scenario: Recorded, resource: Resource) {
    const { protocol } = scenario.options
    const { machines: participants } = scenario
    const { resultsKept } = scenario.limits
    const { localHandoffs } = scenario
    this.#header = { format: 1, protocol, participants, resource: resource.name, resultsKept, localHandoffs }
    this.#resource = resource
    this.serial = new SerialCopy(resource, participants, resultsKept)
  }

  get history(): History {
    return { header: this.#header, events: this.events }
  }

  record(event: HistoryEvent): void {
    this.events.push(event)
  }

  /** The replica of this participant applied an operation or jumped to a snapshot. */
  replica(at: number, id: ParticipantId, event: ReplicaOutput): void {
    if (event.type === 'granted') return this.serial.granted(id, event)
    this.#inThisStep++
    if (event.type === 'restored') {
      this.serial.restored(id, event.sequence)
      this.events.push({
        at,
        participant: id,
        type: 'restore',
        sequence: event.sequence,
        hash: this.serial.hashOf(id),
      })
      return
    }
    this.serial.applied(id, event)
    const { sequence, fence, opId, operation, result } = event
    this.events.push({ at, participant: id, type: 'invoke', sequence, fence, opId, operation })
    this.events.push({ at, participant: id, type: 'response', sequence, opId, result })
  }

  get hasPending(): boolean {
    return this.#inThisStep > 0
  }

  /**
   * The step is over. Its state is the one after the last thing that it did to the replica, so only now can
   * its hash be taken. A snapshot is recorded with the hash that it must have; if it has another one, it is
   * found out here.
   */
  flush(id: ParticipantId, cells: Readonly<Cells>): void {
    const last = this.events.length - 1
    const event = this.events[last]!
    const isHashed =
      this.#inThisStep > 1 || event.type === 'restore' || this.serial.lengthOf(id) % HASH_EVERY === 0
    this.#inThisStep = 0
    if (!isHashed) return
    const hash = this.#resource.hash(cells)
    this.serial.compareHash(id, hash)
    if (event.type === 'response') this.events[last] = { ...event, hash }
  }

  /** The process begins again with what was on the disk: the replica applies the rest a second time. */
  restarted(at: number, participant: ParticipantId, sequence: number): void {
    this.serial.restarted(participant, sequence)
    this.events.push({ at, participant, type: 'restart', sequence })
  }

  wiped(at: number, participant: ParticipantId): void {
    this.serial.wiped(participant)
    this.events.push({ at, participant, type: 'wipe' })
  }
}
