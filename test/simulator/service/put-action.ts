/** One request for a configuration, without the library: what it was told is noted as it came. */
import type { LockOptions } from '../../../client/index.ts'
import type { Json } from '../../../shared/json.ts'
import type { Wish } from './plan.ts'
import type { Action } from './plan-actions.ts'
import type { SimClient } from './sim-client.ts'

/** As the service wants to hear it. */
export function bodyOf({ participants, places, ...rest }: Wish): LockOptions {
  const none = new Array<{ readonly location?: string }>(participants ?? 0).fill({})
  const listed = places?.map(location => ({ location })) ?? none
  return listed.length === 0 ? rest : { ...rest, participants: listed }
}

export async function put(client: SimClient, action: Extract<Action, { type: 'put' }>): Promise<void> {
  try {
    const { status } = await client.request('PUT', action.lock, bodyOf(action.wish) as unknown as Json)
    client.note(`put: ${status}`)
  } catch {
    client.note('put: no answer')
  }
}
