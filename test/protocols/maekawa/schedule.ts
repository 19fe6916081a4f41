/**
 * Random schedules. The first phase loses, doubles and reorders messages, crashes nodes between any two
 * effects of a step, and lets users come, leave and give up; the table judges every step. Then the network
 * heals, and every user that waits must get in.
 */
import { Table } from './table.ts'

export interface Schedule {
  readonly participants: number
  readonly localHandoffs: number
  /** Each number is one decision: the low digits choose what is done, the others with whom. */
  readonly decisions: readonly number[]
}

export interface Outcome {
  readonly table: Table
  readonly crits: number
  readonly crashes: number
}

export function run({ participants, localHandoffs, decisions }: Schedule): Outcome {
  const table = new Table({ participants, localHandoffs })
  let crashes = 0
  decisions.forEach((decision, index) => {
    if (decide(table, decision, `user-${index}`)) crashes++
  })
  heal(table)
  const crits = table.emitted.filter(({ event }) => event.type === 'crit').length
  return { table, crits, crashes }
}

/** Returns whether a node crashed. */
function decide(table: Table, decision: number, user: string): boolean {
  const what = decision % 32
  const which = Math.floor(decision / 32)
  const node = (which % table.everybody.length) + 1
  if (!table.isUp(node) && what >= 20) {
    table.start(node)
    return false
  }
  // One step in sixteen is cut short.
  const effects = Math.floor(which / 64) % 16 === 0 ? Math.floor(which / 1024) % 4 : undefined
  if (what < 18) return passOn(table, what, which, effects)
  if (!table.isUp(node)) return false
  if (what < 24) table.try(node, user)
  else if (what < 28) leaveSomebody(table)
  else if (what === 28) giveUp(table, node)
  else if (what === 29) table.crash(node)
  else if (table.timers(node).includes('repeat')) {
    table.fire(node, 'repeat', effects)
    return effects !== undefined
  }
  return what === 29
}

/** Of eighteen messages, three are lost, two come twice, and the others come once, in any order. */
function passOn(table: Table, what: number, which: number, effects: number | undefined): boolean {
  if (table.network.length === 0) return false
  const index = which % table.network.length
  const sent = table.network[index]!
  if (what >= 2) table.network.splice(index, 1)
  if (what >= 2 && what < 5) return false
  const isUp = table.isUp(sent.to)
  table.hand(sent, effects)
  return isUp && effects !== undefined
}

function leaveSomebody(table: Table): void {
  table.forgetEnded()
  for (const [name, fence] of table.inside) {
    const [node, user] = name.split('/')
    if (table.isUp(Number(node))) table.user(Number(node), { type: 'exit', user: user!, fence })
  }
}

function giveUp(table: Table, node: number): void {
  const waiter = table.state(node).durable.localQueue.waiters.at(-1)
  if (waiter !== undefined) table.withdraw(node, waiter.user)
}

/**
 * Nothing is lost any longer: within a few repeats of each node, every user that waits gets in and leaves,
 * and all fall silent.
 */
function heal(table: Table): void {
  for (const node of table.everybody) if (!table.isUp(node)) table.start(node)
  let repeats = 0
  for (;;) {
    table.deliver()
    const holding = table.everybody.find(node => table.state(node).durable.localQueue.holders.length > 0)
    if (holding !== undefined) {
      const { user, fence } = table.state(holding).durable.localQueue.holders[0]!
      table.user(holding, { type: 'exit', user, fence })
      continue
    }
    const next = table.nextTimer()
    if (next === null) break
    table.fire(next.participant, next.timer)
    if (++repeats > 500 * table.everybody.length) throw new Error('somebody waits for ever')
  }
  for (const node of table.everybody) {
    if (table.state(node).durable.localQueue.waiters.length > 0)
      throw new Error(`node ${node} has users that wait, and no timer`)
  }
}
