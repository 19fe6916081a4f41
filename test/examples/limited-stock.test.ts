/** examples/limited-stock, as it is deployed: the shop reaches Baton through a service binding. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GrantOverError, type Lock } from '../../client/index.ts'
import { look, putOnSale, type Sale } from '../../examples/limited-stock/shop.ts'
import { violationsIn } from './judged.ts'
import { Market, REGIONS } from './market.ts'
import { presentOwner } from './owner.ts'

const STOCK = 20
const BUYERS = Array.from({ length: 60 }, (_, index) => `buyer-${index}`)

let market: Market
let stock: Lock

beforeAll(async () => {
  market = await Market.open()
  stock = market.baton.lock('tickets')
})
afterAll(() => market?.close())

it('sells every ticket once, whatever happens to those who hold the lock', async () => {
  await putOnSale(stock, STOCK)
  expect(await market.left()).toBe(STOCK)

  // A shop that takes the lock, looks at the stock, decides to sell, and is killed: it never says anything
  // again.
  const killed = await stock.acquire({ at: 2, ttlMs: 2_000, keepAlive: false })
  expect((await killed.get('left')).value).toBe(STOCK)

  // Buyers from everywhere; every fifth clicks twice, and the second click goes elsewhere.
  const clicks = BUYERS.flatMap((buyer, index) => {
    const click = { buyer, region: REGIONS[index % 3]! }
    return index % 5 === 0 ? [click, { buyer, region: REGIONS[(index + 1) % 3]! }] : [click]
  })
  const sales = Promise.all(
    clicks.map(async click => ({ ...click, sale: await market.buy(click.buyer, click.region) })),
  )

  // An operator forces a holder out, and then the participant that has the token crashes, twice.
  await untilSold(4)
  await stock.eject()
  for (const sold of [8, 14]) {
    await untilSold(sold)
    expect(await market.crash('tickets', await presentOwner(stock))).toBe(true)
  }

  const outcomes = await sales
  const tickets = new Map<string, Sale | null>()
  for (const { buyer, sale } of outcomes) {
    // A buyer that clicked twice was told the same twice, except that a ticket may have come in between.
    const before = tickets.get(buyer)
    if (before && sale) expect(sale.ticket).toBe(before.ticket)
    tickets.set(buyer, before ?? sale)
  }
  const { left, sold } = await look(stock)
  expect([left, await market.left()]).toEqual([0, 0])
  expect(new Set(sold).size).toBe(STOCK)
  const buyersByTicket = [...tickets]
    .flatMap(([buyer, sale]) => (sale === null ? [] : [{ buyer, ticket: sale.ticket }]))
    .sort((one, other) => one.ticket - other.ticket)
  expect(buyersByTicket).toEqual(sold.map((buyer, index) => ({ buyer, ticket: index + 1 })))
  // The buyers' regions made a difference: tickets were sold through several participants.
  expect(new Set(outcomes.flatMap(({ sale }) => sale?.soldBy ?? [])).size).toBeGreaterThan(1)

  // The one that was killed comes back, and does what it had decided to do: too late.
  const late = killed.apply([
    { increment: 'left', by: -1 },
    { append: 'sold', value: 'late' },
  ])
  await expect(late).rejects.toThrow(GrantOverError)
  expect(await look(stock)).toEqual({ left, sold })
  expect(await violationsIn(stock)).toEqual([])
})

async function untilSold(count: number): Promise<void> {
  await expect
    .poll(async () => (await look(stock)).sold.length, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(count)
}
