/**
 * The service, counting what Cloudflare would bill: requests to the router, requests to objects and by what
 * they are, alarms, rows written and read, by participant. `GET /counts` tells, and `POST /evict` throws
 * every participant out of memory, as the runtime does after a while. JavaScript, so that no project of types
 * has to know of it.
 */
import router, { BatonParticipant as Participant } from '../../worker/index.ts'

const counts = { router: 0, objects: {} }

function countsOf(object) {
  counts.objects[object] ??= { made: 0, call: 0, peer: 0, alarm: 0, setAlarm: 0, rowsWritten: 0, rowsRead: 0 }
  return counts.objects[object]
}

/** Whose storage it is; while an object is being made, storage that is not known yet is its own. */
const owners = new WeakMap()
let making = null

function countRows(sql) {
  const { exec } = sql
  if (exec.isCounted) return
  const counted = function (...values) {
    if (!owners.has(this)) owners.set(this, making)
    const object = owners.get(this)
    const cursor = exec.apply(this, values)
    object.rowsWritten += cursor.rowsWritten
    // A cursor knows how many rows it has read once it was used, which is at once.
    queueMicrotask(() => {
      object.rowsRead += cursor.rowsRead
    })
    return cursor
  }
  counted.isCounted = true
  Object.getPrototypeOf(sql).exec = counted
}

export class BatonParticipant extends Participant {
  constructor(ctx, env) {
    const object = countsOf(ctx.id.name ?? ctx.id.toString())
    const { storage } = ctx
    const setAlarm = storage.setAlarm.bind(storage)
    storage.setAlarm = (...values) => {
      object.setAlarm++
      return setAlarm(...values)
    }
    countRows(storage.sql)
    making = object
    super(ctx, env)
    object.made++
    this.counts = object
  }

  fetch(request) {
    if (new URL(request.url).pathname === '/evict') return this.ctx.abort('evicted')
    const kind = new URL(request.url).pathname.slice(1)
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
    return super.fetch(request)
  }

  alarm() {
    this.counts.alarm++
    return super.alarm()
  }
}

/** Whoever is thrown out cannot answer any more. */
async function evict(env) {
  for (const name of Object.keys(counts.objects)) {
    const object = env.PARTICIPANT.get(env.PARTICIPANT.idFromName(name))
    await object.fetch('https://participant/evict').catch(() => {})
  }
  return new Response(null, { status: 204 })
}

export default {
  fetch(request, env, ctx) {
    if (new URL(request.url).pathname === '/counts') {
      return Response.json(counts)
    }
    if (new URL(request.url).pathname === '/evict') return evict(env)
    counts.router++
    return router.fetch(request, env, ctx)
  },
}
