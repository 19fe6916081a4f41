/**
 * An open service asks nobody for a key, so it serves nobody but the programs of its own machine. That it
 * listens on loopback alone is not enough: a page of some site, open in a browser here, can send it requests.
 * Such a request names that site in its `Origin`; or in its `Host`, if the name of the site was made to point
 * to this machine.
 */
import { addressOf } from './address.ts'
import { type AllowedOrigins, isAllowed } from './cross-origin.ts'
import { isLoopbackHost } from './loopback.ts'
import { problemAnswer } from './problem-answer.ts'

/**
 * What the client calls a service behind a binding. No page can call it that: on loopback there is no https.
 */
const BOUND = 'https://baton'

/** `null` for a request of this machine. Pages of allowed origins may ask as well. */
export function refuseStrangers(request: Request, allowed: AllowedOrigins): Response | null {
  const address = addressOf(request.url)
  if (address?.origin !== BOUND && !isLoopbackHost(address?.hostname ?? '')) {
    return problemAnswer(
      request,
      'forbidden',
      'This service is open, so it serves its own machine alone. Call it by the name 127.0.0.1 or localhost.',
    )
  }
  const origin = request.headers.get('origin')
  if (origin === null || isAllowed(allowed, origin)) return null
  return problemAnswer(
    request,
    'forbidden',
    'This service is open, so it serves no pages of other sites. BATON_CORS_ORIGINS can allow some.',
  )
}
