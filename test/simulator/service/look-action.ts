/** One request that only looks, without the library: what it was told is noted as it came. */
import type { Json } from '../../../shared/json.ts'
import type { Action } from './plan-actions.ts'
import type { Look } from './plan-looks.ts'
import type { SimClient } from './sim-client.ts'

const NOBODY = 'abcdefghijklmnopqrstu-'

interface Question {
  readonly method: string
  readonly path: string
  readonly body?: Json
}

const QUESTIONS: { readonly [look in Look]: (participant: number) => Question } = {
  status: () => ({ method: 'GET', path: '' }),
  key: at => ({ method: 'GET', path: `/state/n?at=${at}` }),
  keys: at => ({ method: 'GET', path: `/state?consistency=local&at=${at}` }),
  history: () => ({ method: 'GET', path: '/history' }),
  watch: at => ({ method: 'GET', path: `/watch?at=${at}` }),
  eject: () => ({ method: 'POST', path: '/eject', body: {} }),
  ticket: at => ({ method: 'GET', path: `/tickets/${at}-${NOBODY}` }),
  ops: at => ({
    method: 'POST',
    path: `/grants/${at}-7-${NOBODY}/ops`,
    body: { opId: 'looked', ops: [{ increment: 'n' }] },
  }),
  release: at => ({ method: 'DELETE', path: `/grants/${at}-7-${NOBODY}` }),
}

export async function lookAt(client: SimClient, action: Extract<Action, { type: 'look' }>): Promise<void> {
  const { lock, look, participant } = action
  const { method, path, body } = QUESTIONS[look](participant)
  const begunAt = client.world.loop.now
  const answer = await client.request(method, `${lock}${path}`, body).catch(() => null)
  if (answer === null) return
  // Participants that are all silent never fail the call: it says nothing of the lock.
  if (answer.status === 200 && isNobodyThere(answer.body)) return
  const { code } = (answer.body ?? {}) as { readonly code?: string }
  client.world.journal.looked({
    lock,
    look,
    by: client.name,
    begunAt,
    status: answer.status,
    code: code ?? null,
  })
}

function isNobodyThere(body: Json): boolean {
  const { participants } = (body ?? {}) as { readonly participants?: readonly { reachable?: boolean }[] }
  return participants?.every(({ reachable }) => reachable === false) === true
}
