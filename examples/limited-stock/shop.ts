/**
 * A limited stock, guarded by one lock: how many are `left`, and to whom the others were `sold`. Nothing in
 * here knows where it runs: the Worker next to it uses it, and so does a test in Node.
 */
import type { HoldOptions, Lock } from '@baton-lock/baton/client'

export interface Sale {
  readonly ticket: number
  /** The participant through which it was sold. */
  readonly soldBy: number
}

/** What happens outside of the lock. The fence lets whoever takes the money refuse a shop that comes late. */
export type Pay = (buyer: string, fence: number, signal: AbortSignal) => Promise<void>

/** Has an effect once: repeating it changes nothing. */
export async function putOnSale(stock: Lock, count: number): Promise<void> {
  const ops = [
    { put: 'left', value: count },
    { put: 'sold', value: [] },
  ]
  await stock.transact(ops, { opId: 'put-on-sale' })
}

/** One ticket for each buyer, however often they ask; `null` if there is none left. */
export function buy(
  stock: Lock,
  buyer: string,
  pay: Pay = async () => {},
  options: HoldOptions = {},
): Promise<Sale | null> {
  return stock.run({ waitMs: 20_000, ttlMs: 5_000, ...options }, async held => {
    // Read: nobody else changes it while the lock is held.
    const [left, sold] = await Promise.all([held.get<number>('left'), held.get<string[]>('sold')])
    const soldBy = held.grant.participant

    // Decide.
    const place = sold.value?.indexOf(buyer) ?? -1
    if (place >= 0) return { ticket: place + 1, soldBy }
    if (!left.value) return null
    await pay(buyer, held.fence, held.signal)

    // Write both or nothing, and once, because the operation has the buyer's name. If the lock was lost
    // meanwhile, the service refuses this, and nothing is sold.
    const ops = [
      { increment: 'left', by: -1 },
      { append: 'sold', value: buyer },
    ] as const
    const { applied, results } = await held.apply(ops, { opId: `buy/${buyer}` })
    if (!applied) throw new Error(`the stock is damaged: ${JSON.stringify(results)}`)
    return { ticket: results[1].length, soldBy }
  })
}

export interface Stock {
  readonly left: number
  readonly sold: readonly string[]
}

/** Both at the same moment. */
export async function look(stock: Lock): Promise<Stock> {
  const { entries } = await stock.list()
  const { left = 0, sold = [] } = Object.fromEntries(entries.map(({ key, value }) => [key, value]))
  return { left, sold } as Stock
}
