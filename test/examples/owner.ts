/**
 * Who has the token. Among the participants that are reachable, the one that has come furthest knows best.
 */
import type { Lock } from '../../client/index.ts'

export async function presentOwner(lock: Lock): Promise<number> {
  const { participants } = await lock.status()
  const views = participants.filter(({ reachable }) => reachable)
  return views.reduce((best, view) => (view.sequence! > best.sequence! ? view : best)).owner!
}
