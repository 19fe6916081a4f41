/** What a request is refused with reads as a sentence: it has a subject, and says what would be right. */
import { expect, it } from 'vitest'
import { refusal } from './refusal.ts'

const FOUR_CHANGES =
  'The body must be one of {"add": {"location"?: …}}, {"remove": number}, {"replace": number, "location"?: …} and ' +
  '{"participants": [{"id": number} or {"location"?: …}, …]}, each with "configuration"?: number.'

it.each([
  ['POST', '/v1/locks/jobs/acquire', { waitMs: 99_999 }, 'waitMs must be at most 25000.'],
  ['POST', '/v1/locks/jobs/acquire', { waitMs: -1 }, 'waitMs must be at least 0.'],
  ['POST', '/v1/locks/jobs/acquire', { waitMs: 'long' }, 'waitMs must be a number.'],
  ['POST', '/v1/locks/jobs/acquire', { waitMs: 1.5 }, 'waitMs must be a whole number.'],
  ['POST', '/v1/locks/jobs/acquire', { wait: 1 }, 'wait is not a known field.'],
  ['POST', '/v1/locks/jobs/acquire', { '': 1 }, 'The body has a field without a name.'],
  ['PUT', '/v1/locks/jobs', { detector: { '': 1 } }, 'detector has a field without a name.'],
  ['GET', '/v1/locks/jobs/state?=1', undefined, 'The query has a field without a name.'],
  ['POST', '/v1/locks/jobs/acquire', { mode: 'both' }, 'mode must be one of "exclusive", "shared".'],
  ['POST', '/v1/locks/jobs/acquire', [], 'The body must be an object.'],
  ['POST', '/v1/locks/jobs/acquire', '{', 'The body is not JSON.'],
  ['POST', '/v1/locks/jobs/transact', { ops: [{ get: 'a' }] }, 'opId is missing.'],
  ['POST', '/v1/locks/jobs/transact', { opId: '', ops: [{ get: 'a' }] }, 'opId must not be empty.'],
  ['POST', '/v1/locks/jobs/transact', { opId: 'o', ops: [] }, 'ops must not be empty.'],
  [
    'POST',
    '/v1/locks/jobs/transact',
    { a: 1, opId: 'o', ops: [{ get: 'a' }], b: 2 },
    'a is not a known field. (There is 1 more.)',
  ],
  [
    'PUT',
    '/v1/locks/jobs',
    { protocol: 'maekawa', options: { ring: 'waiting' } },
    'options do not fit: maekawa has no option ring.',
  ],
  ['GET', '/v1/locks/jobs/state?cursor=!', undefined, 'cursor is not the cursor of an earlier page.'],
  ['GET', '/v1/locks/jobs/state?limit=many', undefined, 'limit must be a whole number.'],
  ['GET', '/v1/locks/jobs/state?limit=1.5', undefined, 'limit must be a whole number.'],
  ['DELETE', '/v1/locks/jobs?generation=0x1', undefined, 'generation must be a whole number.'],
  ['DELETE', '/v1/locks/jobs?generation=0', undefined, 'generation must be at least 1.'],
  ['POST', '/v1/locks/jobs/acquire', '{"waitMs": 1e99}', 'waitMs must be at most 25000.'],
  ['POST', '/v1/locks/jobs/acquire', '{"waitMs": -1e99}', 'waitMs must be at least 0.'],
  ['POST', '/v1/locks/jobs/eject', '{"fence": 1e99}', 'fence must be at most 9007199254740991.'],
  ['POST', '/v1/locks/jobs/participants', { remove: 'a' }, 'remove must be a number.'],
  ['DELETE', '/v1/locks/jobs/waiters/abc', undefined, 'waiter must be 22 letters, digits, _ or -.'],
  ['POST', '/v1/locks/jobs/import', [], 'The body must be an object.'],
  ['POST', '/v1/locks/jobs/import', 'null', 'The body must be an object.'],
  ['POST', '/v1/locks/jobs/import', 'hello', 'The body is not JSON.'],
  ...[{}, { location: 'oc' }, { add: {}, remove: 1 }].map(
    body => ['POST', '/v1/locks/jobs/participants', body, FOUR_CHANGES] as const,
  ),
] as const)('%s %s %j', async (method, path, body, detail) => {
  expect(await refusal(400, method, path, body)).toMatchObject({ code: 'bad_request', detail })
})
