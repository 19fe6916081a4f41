/**
 * The shop's logic against real partial failure: each participant is a process of its own. The one through
 * which a ticket is being sold is killed between the decision and the write; and while the others go on, the
 * one that has the token is killed and started again.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BatonError, createBaton, type Lock } from '../../client/index.ts'
import { buy, look, type Pay, putOnSale, type Sale } from '../../examples/limited-stock/shop.ts'
import { LocalCluster } from '../../worker/local/cluster.ts'
import { violationsIn } from './judged.ts'
import { presentOwner } from './owner.ts'
import { temporaryFolder } from './workers.ts'

const STOCK = 20
const BUYERS = Array.from({ length: 60 }, (_, index) => `buyer-${index}`)
const LATE = 'late-buyer'
const VICTIM = 2

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let cluster: LocalCluster
let stock: Lock

beforeAll(async () => {
  folder = await temporaryFolder()
  cluster = await LocalCluster.start({ participants: 3, storage: folder.path })
  stock = createBaton({ url: cluster.url }).lock('tickets')
})
afterAll(async () => {
  await cluster?.stop()
  await folder?.[Symbol.asyncDispose]()
})

it('sells every ticket once, though the process that holds the token is killed in the middle', async () => {
  await putOnSale(stock, STOCK)
  let survive = () => {}
  const survived = new Promise<void>(resolve => {
    survive = resolve
  })
  let fenceOfVictim = 0

  // It has read that there are tickets, and decided to sell one; while the buyer pays, the process is killed.
  const killMeanwhile: Pay = async (_, fence) => {
    fenceOfVictim = fence
    await cluster.kill(VICTIM)
    await survived
  }
  const lateSale = buy(stock, LATE, killMeanwhile, { at: VICTIM, ttlMs: 60_000 }).catch(
    (error: unknown) => error,
  )
  await expect.poll(() => fenceOfVictim, { timeout: 60_000 }).toBeGreaterThan(0)

  // The others go on without it, also those buyers whose nearest participant it was.
  const selling = Promise.all(BUYERS.map((buyer, index) => buyUntilTold(buyer, { at: (index % 3) + 1 })))
  await expect.poll(async () => (await look(stock)).sold.length, { timeout: 60_000 }).toBeGreaterThan(5)
  const owner = await presentOwner(stock)
  await cluster.kill(owner)
  await cluster.restart(owner)
  const sales = await selling
  const ticketOf = new Map(sales.map((sale, index) => [BUYERS[index]!, sale]))
  const { left, sold } = await look(stock)
  expect(left).toBe(0)
  expect(new Set(sold).size).toBe(STOCK)
  expect(sold.map(buyer => ticketOf.get(buyer)?.ticket)).toEqual(sold.map((_, index) => index + 1))
  expect(sales.filter(sale => sale !== null)).toHaveLength(STOCK)

  // It comes back, and so does the shop that had decided: it learns that it is too late, and the buyer that
  // all are sold.
  await cluster.restart(VICTIM)
  survive()
  expect(await lateSale).toMatchObject({ name: 'EjectedError', outcome: 'not-applied' })
  expect(await buyUntilTold(LATE, { at: VICTIM })).toBeNull()
  expect(await look(stock)).toEqual({ left, sold })
  const soldThere = async () => (await stock.get('sold', { at: VICTIM, consistency: 'local' })).value
  await expect.poll(soldThere, { timeout: 60_000 }).toEqual(sold)
  expect(await violationsIn(stock)).toEqual([])
})

/** Asks again until there is an answer; after the first time, any participant that is up will do. */
async function buyUntilTold(buyer: string, near: { readonly at?: number }): Promise<Sale | null> {
  try {
    return await buy(stock, buyer, undefined, { waitMs: 5_000, ...near })
  } catch (error) {
    if (!(error instanceof BatonError)) throw error
    return buyUntilTold(buyer, {})
  }
}
