/**
 * A request for each call of the lock `jobs` that the router may give to any participant, or to one alone.
 */
import { GRANT_ID, TICKET_ID } from './fake.ts'

type LockRequest = readonly [method: string, path: string, body: unknown]

export const OPERATION = { opId: 'o-1', ops: [{ get: 'a' }] }

/** Any participant can answer these. */
export const ANYWHERE: readonly LockRequest[] = [
  ['POST', '/v1/locks/jobs/acquire', {}],
  ['POST', '/v1/locks/jobs/transact', OPERATION],
  ['GET', '/v1/locks/jobs/state/a', undefined],
  ['GET', '/v1/locks/jobs/state', undefined],
  ['POST', '/v1/locks/jobs/eject', undefined],
  ['PUT', '/v1/locks/jobs', {}],
]

/** Only the participant where the grant or the ticket lives can answer these. */
export const AT_HOME: readonly LockRequest[] = [
  ['GET', `/v1/locks/jobs/tickets/${TICKET_ID}`, undefined],
  ['DELETE', `/v1/locks/jobs/tickets/${TICKET_ID}`, undefined],
  ['POST', `/v1/locks/jobs/grants/${GRANT_ID}/ops`, OPERATION],
  ['POST', `/v1/locks/jobs/grants/${GRANT_ID}/keepalive`, {}],
  ['DELETE', `/v1/locks/jobs/grants/${GRANT_ID}`, undefined],
]
