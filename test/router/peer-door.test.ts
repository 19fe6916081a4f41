/** Which signed requests of peers a process answers; the signatures are in service/cluster-peers.test.ts. */
import { expect, it } from 'vitest'
import type { BatonEnvironment } from '../../worker/environment.ts'
import { answerPeer } from '../../worker/peer-door.ts'
import { signedRequest } from '../service/signing.ts'

const SECRET = 'the secret of these tests'
const OWN = 'https://two.example'
const PLACES = ['https://one.example', OWN, 'https://three.example']

const BATON_PARTICIPANTS = JSON.stringify(PLACES.map(url => ({ url })))

interface Sent {
  /** Of a participant that came after the birth of its lock, as the sender has signed it. */
  readonly address?: string
  /** What somebody in between has put there. */
  readonly exchanged?: string
}

/** The names of the objects that were asked. */
async function asked(
  participant: number,
  variables: Partial<BatonEnvironment>,
  { address, exchanged }: Sent = {},
): Promise<string[]> {
  const names: string[] = []
  const PARTICIPANT = {
    idFromName: (name: string) => names.push(name),
    get: () => ({ fetch: async () => Response.json({}) }),
  }
  const env = { PARTICIPANT, BATON_PEER_SECRET: SECRET, BATON_URL: OWN, ...variables }
  const options = { path: '/call', lock: 'jobs', participant, body: '{}', secret: SECRET, to: OWN }
  const { path, init } = signedRequest({ ...options, ...(address !== undefined && { address }) })
  const request = new Request(OWN + path, init)
  if (exchanged !== undefined) request.headers.set('x-baton-address', exchanged)
  const answer = await answerPeer(request, env as unknown as BatonEnvironment, '')
  expect(answer === null).toBe(names.length === 0)
  return names
}

it('a process answers for its own participant, and for no other', async () => {
  expect(await asked(1, { BATON_PARTICIPANTS })).toEqual([])
  expect(await asked(2, { BATON_PARTICIPANTS })).toEqual(['jobs/2'])
  expect(await asked(3, { BATON_PARTICIPANTS })).toEqual([])
  expect(await asked(4, { BATON_PARTICIPANTS })).toEqual([])
})

it('whichever of its addresses the list has, and however that is written', async () => {
  const BATON_URL = `${OWN}, https://also-two.example/locks`
  for (const url of ['https://TWO.example:443/', 'https://also-two.example/locks/']) {
    const BATON_PARTICIPANTS = JSON.stringify([{ url: PLACES[0] }, { url }])
    expect(await asked(2, { BATON_PARTICIPANTS, BATON_URL })).toEqual(['jobs/2'])
  }
})

it('where all participants are objects of one process, it answers for each', async () => {
  expect(await asked(3, {})).toEqual(['jobs/3'])
})

it('a participant that came later is another object than the first one of its number', async () => {
  expect(await asked(2, { BATON_PARTICIPANTS }, { address: 'weur@2' })).toEqual(['jobs/2/weur@2'])
  expect(await asked(5, { BATON_PARTICIPANTS }, { address: '@2' })).toEqual(['jobs/5/@2'])
  expect(await asked(2, { BATON_PARTICIPANTS }, { address: 'weur@3' })).toEqual([])
})

it('regression: nobody in between sends a recorded request on to another object', async () => {
  expect(await asked(2, { BATON_PARTICIPANTS }, { exchanged: 'weur@2' })).toEqual([])
  expect(await asked(2, { BATON_PARTICIPANTS }, { address: 'weur@2', exchanged: '@2' })).toEqual([])
  expect(await asked(3, {}, { exchanged: '@' })).toEqual([])
})
