/**
 * Operators that change the members of the lock at random moments: one is added, removed or replaced, several
 * are, or all; two operators want different things at once; one says the same thing again, much later. Once
 * an operator is told that the new members have everything, it may switch the old machines off for good.
 */
import type { Members, ParticipantId, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import { Random } from '../random.ts'
import { STREAM } from '../scenario.ts'
import type { World } from '../world.ts'
import type { AskedChange, MemberSets } from './member-sets.ts'

const ASK_AGAIN_MS = 1_200
const MAX_ASKED = 5
const MAX_SET = 6

export class MemberChanges<State, Message> {
  readonly #world: World<State, Message>
  readonly #sets: MemberSets
  readonly #random: Random
  #changes = 0
  #requests = 0
  /** By request, the change that it asks for. */
  readonly #open = new Map<string, AskedChange>()
  #nextMachine: ParticipantId

  constructor(world: World<State, Message>, sets: MemberSets) {
    this.#world = world
    this.#sets = sets
    this.#random = new Random(world.scenario.seed, STREAM.members)
    this.#nextMachine = world.scenario.options.participants + 1
    const next = () => {
      if (!world.hasFaults) return
      this.#changeSomething()
      world.after(this.#random.exponential(world.scenario.changeMs), next)
    }
    world.after(this.#random.exponential(world.scenario.changeMs), next)
  }

  #changeSomething(): void {
    const random = this.#random
    const base = random.chance(0.1) ? random.between(0, this.#sets.config) : this.#sets.config
    this.#ask(this.#draw(), base)
    if (random.chance(0.25)) this.#ask(this.#draw(), base)
  }

  /** Numbers are not used twice: every newcomer is a machine of its own. */
  #draw(): Members {
    const random = this.#random
    const present = random.shuffled([...this.#sets.members])
    const kind = random.pick(['add', 'remove', 'replace', 'replace', 'several', 'all', 'none'] as const)
    const gone = {
      add: 0,
      remove: 1,
      replace: 1,
      several: random.between(1, present.length),
      all: 99,
      none: 0,
    }
    const staying = present.slice(Math.min(gone[kind], present.length))
    const most = MAX_SET - staying.length
    const wanted = {
      add: 1,
      remove: 0,
      replace: 1,
      several: random.between(0, 3),
      all: present.length,
      none: 0,
    }
    const newcomers: ParticipantId[] = []
    for (let count = Math.min(wanted[kind], most); count > 0; count--) {
      const machine = this.#takeMachine()
      if (machine !== null) newcomers.push(machine)
    }
    const members = [...staying, ...newcomers]
    return membersOf(members.length > 0 ? members : present)
  }

  #takeMachine(): ParticipantId | null {
    if (this.#nextMachine >= this.#world.participants.length) return null
    const machine = this.#nextMachine++
    // Some come late, and some are never there.
    if (this.#random.chance(0.8)) {
      this.#start(machine)
      // Where all are needed, one that is gone for good before it is a member must not stop the others.
      if (this.#sets.needsAll && this.#random.chance(0.15)) this.#loseSoon(machine)
    } else if (this.#random.chance(0.6))
      this.#world.after(this.#random.between(50, 3_000), () => {
        if (this.#world.hasFaults) this.#start(machine)
      })
    return machine
  }

  #loseSoon(machine: ParticipantId): void {
    this.#world.after(this.#random.between(20, 600), () => {
      if (this.#world.hasFaults && !this.#sets.isMember(machine))
        this.#world.life.switchOff(this.#world.participant(machine))
    })
  }

  #start(machine: ParticipantId): void {
    const world = this.#world
    const participant = world.participant(machine)
    if (participant.incarnation > 0) return
    world.life.start(participant)
    for (const client of world.clients) if (client.participant === machine) client.sitDown()
  }

  #ask(members: Members, base: number): void {
    const change: AskedChange = { id: `c${++this.#changes}`, base, members }
    this.#sets.asked.push(change)
    this.#say(change, 1)
    // Somebody says it once more, perhaps when the members are others already.
    if (this.#random.chance(0.2))
      this.#world.after(this.#random.between(10, 4_000), () => this.#say(change, MAX_ASKED))
  }

  /** An operator that gets no answer asks another participant. */
  #say(change: AskedChange, times: number): void {
    const world = this.#world
    const there = world.participants.slice(1).filter(({ isUp }) => isUp)
    if (!world.hasFaults) return
    if (there.length > 0) this.#tell(this.#random.pick(there).id, change)
    if (times < MAX_ASKED)
      world.after(ASK_AGAIN_MS, () => {
        if (this.#isOpen(change)) this.#say(change, times + 1)
      })
  }

  #tell(at: ParticipantId, change: AskedChange): string {
    const request = `m${++this.#requests}`
    this.#open.set(request, change)
    const event: UserInput = { type: 'change-members', request, ...change }
    this.#world.transcript.note(this.#world.now, at, `change ${JSON.stringify(event)}`)
    this.#world.tell(at, event)
    return request
  }

  #isOpen(change: AskedChange): boolean {
    return [...this.#open.values()].includes(change)
  }

  /** An operator replaces a member for good, after the healing: it insists until it has an answer. */
  insist(gone: ParticipantId | null, survivors: readonly ParticipantId[]): ParticipantId | null {
    const machine = this.#nextMachine < this.#world.participants.length ? this.#nextMachine++ : null
    if (machine !== null) this.#start(machine)
    const staying = this.#sets.members.filter(id => id !== gone)
    const members = membersOf(machine === null ? staying : [...staying, machine])
    const change: AskedChange = { id: `c${++this.#changes}`, base: this.#sets.config, members }
    this.#sets.asked.push(change)
    const world = this.#world
    world.unanswered.add(change.id)
    const say = () => {
      if (!world.unanswered.has(change.id)) return
      const able = survivors.filter(id => this.#sets.has(id))
      this.#tell(this.#random.pick(able.length > 0 ? able : survivors), change)
      world.after(ASK_AGAIN_MS, say)
    }
    say()
    return machine
  }

  answered(event: UserOutput): void {
    const request = 'request' in event ? event.request : event.type === 'refused' ? event.user : ''
    const change = this.#open.get(request)
    if (change === undefined) return
    const { counts } = this.#world
    this.#open.delete(request)
    if (event.type === 'members-changed') {
      counts.memberChanges++
      this.#world.unanswered.delete(change.id)
      this.#sets.asked.splice(0, this.#sets.asked.length, ...this.#sets.asked.filter(one => one !== change))
      if (this.#random.chance(0.5)) this.#switchOff(event.members)
    } else if (event.type === 'refused') {
      const { code } = event.refusal
      if (code === 'other-members') counts.changesLost++
      else if (code === 'not-reached') counts.newcomersNotReached++
      else if (code === 'elsewhere') counts.changesAskedElsewhere++
      // Whoever is asked in the wrong place, or could not reach somebody, asks again.
      if (code === 'other-members' || code === 'no-such-members') this.#world.unanswered.delete(change.id)
    }
  }

  /** The operator was told that nobody else is needed. Whoever may still become a member stays on. */
  #switchOff(members: Members): void {
    const world = this.#world
    if (!world.hasFaults || Object.keys(this.#sets.addresses).join() !== Object.keys(members).join()) return
    const wanted = new Set(this.#sets.asked.flatMap(({ members: asked }) => Object.keys(asked).map(Number)))
    for (const participant of world.participants.slice(1, this.#nextMachine)) {
      if (this.#sets.has(participant.id) || wanted.has(participant.id) || participant.isOff) continue
      world.counts.machinesSwitchedOff++
      world.life.switchOff(participant)
    }
  }
}

const membersOf = (ids: readonly ParticipantId[]): Members =>
  Object.fromEntries([...ids].sort((one, other) => one - other).map(id => [id, '']))
