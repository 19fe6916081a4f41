/**
 * Which users are owed nothing any more, and which still are, when a participant has lost its storage and its
 * record.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { ChaosHistories } from './histories.ts'

const IDS = [1, 2, 3]
let records: { [id: number]: HistoryEvent[] }
let server: Server
let histories: ChaosHistories

beforeEach(async () => {
  records = { 1: [], 2: [], 3: [] }
  server = createServer((_, response) => {
    const participants = IDS.map(id => ({ id, reachable: true, events: records[id] }))
    response.end(JSON.stringify({ protocol: 'wme-2', resource: 'key-value', participants, cursor: null }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  histories = new ChaosHistories(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

afterEach(() => {
  server.close()
})

function waits(participant: number, user: string): void {
  records[participant]!.push({ at: Date.now(), type: 'try', participant, user })
}

async function wipe(participant: number): Promise<void> {
  await histories.collect('lock')
  histories.wiped('lock', participant, 0)
  records[participant] = []
}

async function violations(): Promise<string[]> {
  await histories.collect('lock')
  return (histories.judge('lock', IDS) ?? ['not judged']).filter(violation => !violation.startsWith('{'))
}

it('a user at a participant that was wiped is owed nothing', async () => {
  waits(1, '1/gone')
  await wipe(1)
  expect(await violations()).toEqual([])
})

it('a user at another participant still is', async () => {
  waits(2, '2/forgotten')
  await wipe(1)
  expect(await violations()).toEqual([expect.stringContaining('"2/forgotten" was never let in')])
})

it('a user that came after the wipe still is', async () => {
  waits(1, '1/gone')
  await wipe(1)
  waits(1, '1/forgotten')
  expect(await violations()).toEqual([expect.stringContaining('"1/forgotten" was never let in')])
})

it('a participant that says itself that it began anew is not recorded twice', async () => {
  waits(1, '1/a')
  records[1]!.push({ at: Date.now(), type: 'withdrawn', participant: 1, user: '1/a' })
  records[1]!.push({ at: Date.now(), type: 'wipe', participant: 1 })
  await histories.collect('lock')
  await histories.collect('lock')
  expect(histories.asText('lock').match(/"wipe"/g)).toHaveLength(1)
  expect(await violations()).toEqual([])
})
