/** Where the participants of other processes come in: signed requests, for a participant of this process. */
import { isIndexName } from '../shared/api/lock-index.ts'
import { readAddress } from '../shared/api/member-address.ts'
import { lockName, participantId } from '../shared/api/primitives.ts'
import { objectName, PARTICIPANT_PATH } from './directory.ts'
import { type BatonEnvironment, defaultPlaces, ownUrls, peerSecrets } from './environment.ts'
import { LEDGER_NAME } from './participant/ledger/name.ts'
import { normalUrl, readSigned } from './signature.ts'

/**
 * Without a secret and an address of our own, or without a signature for us, the path of the participants is
 * as unknown as any other: `null`.
 */
export async function answerPeer(
  request: Request,
  env: BatonEnvironment,
  basePath: string,
): Promise<Response | null> {
  const path = basePath + PARTICIPANT_PATH
  const secrets = peerSecrets(env)
  if (secrets.length === 0 || !request.url.includes(`${path}/`)) return null
  const { pathname, search } = new URL(request.url)
  if (!pathname.startsWith(`${path}/`)) return null
  const lock = objectNameOf(request.headers.get('x-baton-lock'))
  const id = participantId.safeParse(Number(request.headers.get('x-baton-participant')))
  const address = request.headers.get('x-baton-address')
  if (lock === null || !id.success || !isHere(env, id.data, address)) return null
  const read = await readSigned(request, {
    path: pathname.slice(basePath.length) + search,
    // Not the address that the request says it came to: an attacker that replays it elsewhere can say
    // anything there.
    own: ownUrls(env),
    secrets,
    now: Date.now(),
  })
  if (read.type === 'stranger') return null
  if (read.body === 'too-large') return read.answer(new Response(null, { status: 413 }))
  const inner = new Request(`https://participant${pathname.slice(path.length)}${search}`, {
    method: request.method,
    headers: request.headers,
    signal: request.signal,
    ...(read.body.length > 0 && { body: read.body }),
  })
  const object = env.PARTICIPANT.idFromName(
    objectName(lock, { id: id.data, ...(address !== null && { address }) }),
  )
  return read.answer(await env.PARTICIPANT.get(object).fetch(inner))
}

/**
 * Where processes are apart, the number of a participant says in which of them it is, or its address does. A
 * request to the wrong process, from a caller with an old list, would make a second participant of that
 * number.
 */
function isHere(env: BatonEnvironment, participant: number, address: string | null): boolean {
  const places = defaultPlaces(env)
  const process = address === null ? participant : (readAddress(address)?.processNumber ?? null)
  if (places.every(({ url }) => url === null)) return address === null || readAddress(address) !== null
  const url = places.find(({ id }) => id === process)?.url ?? null
  return url !== null && ownUrls(env).some(own => normalUrl(own) === normalUrl(url))
}

/** The name of a lock; or of the ledger of this process or an object of its index, which no lock can have. */
function objectNameOf(header: string | null): string | null {
  if (header === LEDGER_NAME || (header !== null && isIndexName(header))) return header
  const name = lockName.safeParse(header)
  return name.success ? name.data : null
}
