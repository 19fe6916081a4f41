/**
 * The ledger of a process that lost its storage must find out, though nobody uses a lock there: the first request that reaches the
 * process, whatever it is, wakes its ledger.
 */
import { objectName } from './directory.ts'
import { type BatonEnvironment, defaultPlaces, ownUrls } from './environment.ts'
import { LEDGER_NAME } from './participant/ledger/name.ts'
import { normalUrl } from './signature.ts'

const woken = new WeakSet<BatonEnvironment>()

/** A process has a ledger if others are apart from it, and it knows which of them it is. */
export function wakeLedger(env: BatonEnvironment, waitUntil: (work: Promise<unknown>) => void): void {
  if (woken.has(env)) return
  woken.add(env)
  const own = ownUrls(env).map(normalUrl)
  for (const { id, url } of defaultPlaces(env)) {
    if (url === null || !own.includes(normalUrl(url))) continue
    const request = new Request('https://participant/peer', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-baton-lock': LEDGER_NAME,
        'x-baton-participant': String(id),
      },
      body: JSON.stringify({ type: 'ledger', from: id, messages: [] }),
    })
    const ledger = env.PARTICIPANT.get(env.PARTICIPANT.idFromName(objectName(LEDGER_NAME, id)))
    waitUntil(
      ledger.fetch(request).then(
        response => response.body?.cancel(),
        () => woken.delete(env),
      ),
    )
  }
}
