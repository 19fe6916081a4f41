/**
 * An open service asks nobody for a key, so it serves nobody but the programs of its own machine. That it
 * listens on loopback alone is not enough: a page of some site, open in a browser here, can send it requests.
 * Such a request names that site in its `Origin`; or in its `Host`, if the name of the site was made to point
 * to this machine.
 */
import { problem } from '../shared/api/problems.ts'
import { problemAnswer } from './problem-answer.ts'

/**
 * What the client calls a service behind a binding. No page can call it that: on loopback there is no https.
 */
const BOUND = 'https://baton'
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/

/**
 * `null` for a request of this machine. Pages of `allowed` origins (the service's own `cors`) may ask as
 * well.
 */
export function refuseStrangers(request: Request, allowed: readonly string[]): Response | null {
  const { origin: address, hostname } = new URL(request.url)
  if (address !== BOUND && !LOOPBACK.test(hostname)) {
    return refusal(
      'This service is open, and serves its own machine alone: ask for it as 127.0.0.1 or localhost.',
    )
  }
  const origin = request.headers.get('origin')
  if (origin === null || allowed.includes(origin) || allowed.includes('*') || isLoopback(origin)) return null
  return refusal('This service is open, and serves no pages of other sites.')
}

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && LOOPBACK.test(new URL(origin).hostname)
}

function refusal(detail: string): Response {
  return problemAnswer(problem('forbidden', detail))
}
