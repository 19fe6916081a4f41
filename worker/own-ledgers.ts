/** The ledgers of this very process: one for each default participant whose address is its own. */
import type { LedgerHealth } from '../shared/birth/ledger-types.ts'
import { headersFor, objectName } from './directory.ts'
import { type BatonEnvironment, defaultPlaces, ownUrls } from './environment.ts'
import { LEDGER_NAME } from './participant/ledger/name.ts'
import type { LedgerRequest, PeerAnswer } from './participant/peers/requests.ts'
import { normalUrl } from './signature.ts'

const woken = new WeakSet<BatonEnvironment>()
const HEALTH_LIMIT_MS = 2_000

/**
 * A process that has lost its storage must find out even if nobody uses a lock there. So the first request
 * that reaches the process, whatever it is, wakes its ledger.
 */
export function wakeLedger(env: BatonEnvironment, waitUntil: (work: Promise<unknown>) => void): void {
  if (woken.has(env)) return
  woken.add(env)
  for (const id of ownLedgers(env)) {
    waitUntil(
      ask(env, id, { type: 'ledger', from: id, messages: [] }).then(
        response => response.body?.cancel(),
        () => woken.delete(env),
      ),
    )
  }
}

/** `null` for a process without a ledger. A ledger that does not answer counts as not healed. */
export async function ledgerHealth(env: BatonEnvironment): Promise<LedgerHealth | null> {
  const ids = ownLedgers(env)
  if (ids.length === 0) return null
  const silence: LedgerHealth = { healed: false, unfinishedLocks: 0 }
  const all = await Promise.all(ids.map(id => healthOf(env, id).catch(() => silence)))
  return {
    healed: all.every(({ healed }) => healed),
    unfinishedLocks: all.reduce((sum, { unfinishedLocks }) => sum + unfinishedLocks, 0),
  }
}

async function healthOf(env: BatonEnvironment, id: number): Promise<LedgerHealth> {
  const response = await ask(env, id, { type: 'ledger-health' }, AbortSignal.timeout(HEALTH_LIMIT_MS))
  const answer = (await response.json()) as PeerAnswer
  if (answer.type !== 'ledger-health') throw new Error('not an answer of a ledger')
  return answer.health
}

/** A process has a ledger if there are other processes, and it knows which of them it is. */
function ownLedgers(env: BatonEnvironment): number[] {
  const own = ownUrls(env).map(normalUrl)
  const places = defaultPlaces(env).filter(({ url }) => url !== null && own.includes(normalUrl(url)))
  return places.map(({ id }) => id)
}

function ask(
  env: BatonEnvironment,
  id: number,
  asked: LedgerRequest,
  signal?: AbortSignal,
): Promise<Response> {
  const request = new Request('https://participant/peer', {
    method: 'POST',
    headers: headersFor(LEDGER_NAME, { id }),
    body: JSON.stringify(asked),
    ...(signal && { signal }),
  })
  return env.PARTICIPANT.get(env.PARTICIPANT.idFromName(objectName(LEDGER_NAME, { id }))).fetch(request)
}
