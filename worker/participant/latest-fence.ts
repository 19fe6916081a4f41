/** Which grant is the latest that this participant knows of: the holder's, unless somebody was granted the lock since. */
import { fenceOf } from '../../shared/protocols/wme/fence.ts'
import { entryAt, lengthOf } from '../../shared/protocols/wme/log.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'

/** -1 if there was none; `null` if it is older than all that the log has kept. */
export function latestFence({ durable }: WmeState): number | null {
  for (let at = lengthOf(durable); at > durable.base.sequence; at--) {
    const entry = entryAt(durable, at)!
    if (entry.kind === 'grant') return fenceOf(entry.epoch, at)
  }
  // The log is cut only where it is committed, and a holder remembers its grant.
  return durable.stub.grant?.fence ?? (durable.base.sequence === 0 ? -1 : null)
}
