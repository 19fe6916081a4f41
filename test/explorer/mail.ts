/**
 * Messages in flight. A message is numbered by its sender and content. An inbox is what is in flight to one
 * participant, numbered too: the messages of each sender in order, and *strays*, which have left their order
 * and may arrive at any time. If links keep no order, every message is a stray.
 */
import type { Envelope } from '../../shared/protocols/protocol.ts'
import { PairTable } from './tables.ts'
import { freeze, Numbering, textOf } from './values.ts'

/** A message of any protocol; all that the explorer needs to know is that it has a type. */
export type AnyMessage = { readonly type: string }

export interface Mail<Message = AnyMessage> {
  readonly from: number
  readonly message: Envelope<Message>
}

export class Messages<Message = AnyMessage> {
  readonly mails: Mail<Message>[] = []
  private readonly numbering = new Numbering()

  number(from: number, message: Envelope<Message>): number {
    const { id, isNew } = this.numbering.number(`${from}|${textOf(message)}`)
    if (isNew) this.mails.push(freeze({ from, message }))
    return id
  }
}

export interface Inbox {
  readonly receiver: number
  /** In ascending order. */
  readonly strays: readonly number[]
  /** By sender; first in, first out. */
  readonly queues: readonly (readonly number[])[]
  /** The first message of each queue that is not empty. */
  readonly heads: readonly number[]
  /** A bit for each sender whose queue is empty. */
  readonly silent: number
  /** Each stray once. */
  readonly distinctStrays: readonly number[]
}

export class Inboxes {
  readonly inboxes: Inbox[] = []
  private readonly numbers = new Map<string, number>()
  private readonly afterAdding = new PairTable(12)
  private readonly afterTaking = new PairTable(12)
  private readonly afterTakingStray = new PairTable(12)
  private readonly afterStraying = new PairTable(12)
  private readonly prefixes: (readonly number[])[] = []
  private readonly messages: { readonly mails: readonly Mail<unknown>[] }
  private readonly areLinksOrdered: boolean

  constructor(messages: { readonly mails: readonly Mail<unknown>[] }, areLinksOrdered: boolean) {
    this.messages = messages
    this.areLinksOrdered = areLinksOrdered
  }

  /** Inboxes of different receivers have different numbers, so that the numbers alone tell worlds apart. */
  empty(receiver: number, participants: number): number {
    return this.number(receiver, [], new Array(participants + 1).fill([]))
  }

  get size(): number {
    return this.inboxes.length
  }

  add(inbox: number, message: number): number {
    const known = this.afterAdding.get(inbox, message)
    if (known !== -1) return known
    const { receiver, strays, queues } = this.inboxes[inbox]!
    const from = this.queueOf(message)
    const number = this.areLinksOrdered
      ? this.number(receiver, strays, queues.with(from, [...queues[from]!, message]))
      : this.number(receiver, sorted([...strays, message]), queues)
    this.afterAdding.add(inbox, message, number)
    return number
  }

  has(inbox: number, message: number): boolean {
    const { strays, queues } = this.inboxes[inbox]!
    return strays.includes(message) || queues[this.queueOf(message)]!.includes(message)
  }

  /** Without the head of a queue. */
  take(inbox: number, message: number): number {
    const known = this.afterTaking.get(inbox, message)
    if (known !== -1) return known
    const { receiver, strays, queues } = this.inboxes[inbox]!
    const from = this.queueOf(message)
    const number = this.number(receiver, strays, queues.with(from, queues[from]!.slice(1)))
    this.afterTaking.add(inbox, message, number)
    return number
  }

  takeStray(inbox: number, message: number): number {
    const known = this.afterTakingStray.get(inbox, message)
    if (known !== -1) return known
    const { receiver, strays, queues } = this.inboxes[inbox]!
    const number = this.number(receiver, strays.toSpliced(strays.indexOf(message), 1), queues)
    this.afterTakingStray.add(inbox, message, number)
    return number
  }

  /**
   * All inboxes that are left if any number of the last messages of each queue are lost; this one is the
   * first.
   */
  prefixesOf(inbox: number): readonly number[] {
    const known = this.prefixes[inbox]
    if (known !== undefined) return known
    const { receiver, strays, queues } = this.inboxes[inbox]!
    let kept: (readonly (readonly number[])[])[] = [queues]
    for (const [from, queue] of queues.entries()) {
      const shorter = queue.map((_, length) => queue.slice(0, length))
      kept = kept.flatMap(left => [left, ...shorter.map(rest => left.with(from, rest))])
    }
    const numbers = kept.map(left => this.number(receiver, strays, left))
    this.prefixes[inbox] = numbers
    return numbers
  }

  /** The head of a queue leaves its order. */
  stray(inbox: number, message: number): number {
    const known = this.afterStraying.get(inbox, message)
    if (known !== -1) return known
    const { receiver, strays, queues } = this.inboxes[this.take(inbox, message)]!
    const number = this.number(receiver, sorted([...strays, message]), queues)
    this.afterStraying.add(inbox, message, number)
    return number
  }

  private queueOf(message: number): number {
    return this.messages.mails[message]!.from
  }

  private number(
    receiver: number,
    strays: readonly number[],
    queues: readonly (readonly number[])[],
  ): number {
    const key = `${receiver}:${strays.join()}:${queues.map(queue => queue.join()).join(';')}`
    const known = this.numbers.get(key)
    if (known !== undefined) return known
    const number = this.inboxes.length
    this.numbers.set(key, number)
    const heads = queues.filter(queue => queue.length > 0).map(queue => queue[0]!)
    let silent = 0
    for (let from = 1; from < queues.length; from++) {
      if (from !== receiver && queues[from]!.length === 0) silent |= 1 << (from - 1)
    }
    this.inboxes.push({ silent, receiver, strays, queues, heads, distinctStrays: [...new Set(strays)] })
    return number
  }
}

const sorted = (numbers: number[]): number[] => numbers.sort((a, b) => a - b)
