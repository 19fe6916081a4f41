/**
 * Which faults come when: round after round, each dealt from a shuffled deck, so that every kind comes before
 * one comes again. In a round up to a minority of the participants is broken, each in another way; or one
 * fault has the round for itself.
 */
import { sleep } from '../service/eventually.ts'
import type { Random } from '../simulator/random.ts'
import {
  type FaultContext,
  type FaultKind,
  ORDINARY,
  type OrdinaryKind,
  WHOLE,
  type WholeKind,
  WIPES,
  WITH_PRELOAD,
} from './faults.ts'

export interface ScheduleOptions {
  readonly context: FaultContext
  readonly kinds: readonly FaultKind[]
  /** Whether everything that was lost with the last wipe is back. */
  readonly mayWipe: () => Promise<boolean>
  readonly isOver: () => boolean
  readonly onFault: (kind: FaultKind, victim: number | null) => void
}

const isWhole = (kind: FaultKind): kind is WholeKind => kind in WHOLE

export const FAULT_KINDS = [...Object.keys(ORDINARY), ...Object.keys(WHOLE)] as readonly FaultKind[]

export async function disturb(options: ScheduleOptions): Promise<void> {
  const { context, kinds, isOver, onFault } = options
  const { machines, random } = context
  const possible = kinds.filter(kind => machines.preload.type === 'library' || !WITH_PRELOAD.includes(kind))
  const deck = new Deck(possible, random)
  while (!isOver()) {
    const kind = deck.deal()
    if (WIPES.includes(kind) && !(await options.mayWipe())) {
      await sleep(1_000)
      continue
    }
    if (isWhole(kind)) {
      onFault(kind, null)
      await WHOLE[kind](context)
    } else {
      const victims = random.shuffled(machines.ids)
      await Promise.all(
        together(kind, deck, machines.minority, random).map(async (ordinary, index) => {
          const victim = victims[index]!
          await sleep(random.between(0, 1_500) * index)
          onFault(ordinary, victim)
          await ORDINARY[ordinary](victim, context)
        }),
      )
    }
    // Often the next one breaks before the last one has caught up: what that one had promised must be on its
    // disk.
    if (random.chance(0.6)) await sleep(random.between(200, 1_500))
  }
}

/**
 * A wipe may come together with other faults, but not as the second one: it was not asked for whether it may.
 */
function together(first: OrdinaryKind, deck: Deck, most: number, random: Random): OrdinaryKind[] {
  const kinds = [first]
  while (kinds.length < most && random.chance(0.7)) {
    const next = deck.dealIf(kind => !isWhole(kind) && !WIPES.includes(kind))
    if (next === null) break
    kinds.push(next as OrdinaryKind)
  }
  return kinds
}

class Deck {
  private readonly kinds: readonly FaultKind[]
  private readonly random: Random
  private cards: FaultKind[] = []

  constructor(kinds: readonly FaultKind[], random: Random) {
    this.kinds = kinds
    this.random = random
  }

  deal(): FaultKind {
    if (this.cards.length === 0) this.cards = this.random.shuffled(this.kinds)
    return this.cards.pop()!
  }

  dealIf(suits: (kind: FaultKind) => boolean): FaultKind | null {
    const place = this.cards.findLastIndex(suits)
    return place === -1 ? null : this.cards.splice(place, 1)[0]!
  }
}
