/** `export` and `import`: a lock is saved, and brought back, here or at another service. */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { LockExport } from '../../../shared/api/types.ts'
import type { Json } from '../../../shared/json.ts'
import { weight } from '../../../shared/resource/canonical.ts'
import type { ImportedResult, ImportPart } from '../../../shared/resource/import.ts'
import type { ExportBody } from '../../participant/calls/export.ts'
import type { ParticipantAnswer, ParticipantCall } from '../../participant/calls.ts'
import { json, pass, problemResponse } from '../answers.ts'
import { callerOf } from '../authentication.ts'
import { configurationFrom, describeConfiguration } from '../configuration.ts'
import type { Call, Handlers } from '../context.ts'
import { whereFrom } from '../nearest.ts'
import { type Answer, bodyOf } from '../routing.ts'
import { checkConfiguration } from './locks.ts'

/** A part is one operation, and the largest value must fit. */
const PART_WEIGHT = API_LIMITS.batchWeight / 4

export const movingHandlers = {
  exportLock: async call => {
    const { c, parameters } = call
    const answer = await askAnyone(call, () => ({ type: 'export' }))
    if (answer.type !== 'done') return pass(c, answer)
    const { configuration, ...rest } = bodyOf<ExportBody>(answer)
    const { lock: _, ...described } = describeConfiguration(parameters.lock, configuration)
    const exported = { format: 1, lock: parameters.lock, resource: configuration.resource, ...rest }
    return json(c, 200, { ...exported, configuration: described } as unknown as LockExport)
  },

  /** The lock is empty for others until the last operation puts all parts in place. */
  importLock: async call => {
    const { c, services, parameters, body } = call
    const { lock } = parameters
    const from = whereFrom(c.get('incoming'))
    const defaults = services.defaults(lock)
    const { participants, ...wish } = body.configuration
    const places = participants.map(({ location }) => (location === null ? {} : { location }))
    const wanted = configurationFrom(defaults, { ...wish, participants: places } as never, from)
    const refusal = checkConfiguration(c, defaults, wanted)
    if (refusal !== null) return refusal
    if (body.resource !== wanted.resource) {
      const detail = `The export is of the resource ${body.resource}; a lock of this name guards ${wanted.resource}.`
      return problemResponse(c, 'conflict', detail)
    }
    const imported = { epoch: body.epoch, sequence: body.sequence }
    const begun = await begin(call, { ...wanted, imported })
    if (begun.answer.type !== 'done') return pass(c, begun.answer)
    const { created, configuration } = bodyOf<{ created: boolean; configuration: LockConfiguration }>(
      begun.answer,
    )
    services.routing.learn(lock, configuration)
    if (!created || begun.place === null)
      return problemResponse(
        c,
        'conflict',
        'There is a lock of this name already. Delete it, or import under another.',
      )
    const failure = await fill(call, begun.place)
    if (failure === null) return json(c, 201, describeConfiguration(lock, configuration))
    // What is left of it would keep its name.
    const user = services.randomUser()
    await askAnyone(call, () => ({ type: 'delete', user, force: true, generation: null })).catch(
      () => undefined,
    )
    services.routing.forget(lock)
    return pass(c, failure)
  },
} satisfies Partial<Handlers>

type Moving = Call<'exportLock'> | Call<'importLock'>

/** The lock is born, and holds nothing yet. */
async function begin(
  call: Call<'importLock'>,
  configuration: LockConfiguration,
): Promise<{ readonly answer: Answer; readonly place: ParticipantPlace | null }> {
  let place: ParticipantPlace | null = null
  const answer = await askAnyone(call, asked => {
    place = asked
    const isOne = configuration.participants.some(({ id }) => id === asked.id)
    return {
      type: 'configure',
      configuration: isOne ? { ...configuration, firstOwner: asked.id } : configuration,
    }
  })
  return { answer, place }
}

/** Returns what went wrong, or `null`. All of it is done at the participant where the lock was born. */
async function fill(call: Call<'importLock'>, place: ParticipantPlace): Promise<Answer | null> {
  const { services, body } = call
  const { lock } = call.parameters
  const user = services.randomUser()
  const ask = async (asked: ParticipantCall): Promise<ParticipantAnswer | Answer> => {
    const result = await services.caller.call(lock, place, asked, { limitMs: services.times.answerMs })
    return result.type === 'answered' ? result.answer : SILENT
  }
  const entered = await ask({
    ...{ type: 'acquire', user, waitMs: API_LIMITS.waitMs.default, ttlMs: API_LIMITS.ttlMs.most },
    ...{ ticket: false, confirm: true, owner: 'import' },
  })
  if (entered.type !== 'done') return entered as Answer
  const { fence } = (entered.body as unknown as { readonly grant: { readonly fence: number } }).grant
  const { droppedThrough } = body
  const parts = partsOf(body as unknown as ExportBody)
  for (const [number, part] of [...parts, null].entries()) {
    const answer = await ask({ type: 'import', user, fence, number, part, droppedThrough })
    if (answer.type !== 'done') return answer as Answer
  }
  await ask({ type: 'release', user, fence })
  return null
}

const SILENT: ParticipantAnswer = {
  type: 'problem',
  code: 'no_quorum',
  detail:
    'The participant where the lock was created does not answer. What was created of it is being deleted.',
  retryAfterSeconds: 1,
}

export function partsOf({ cells, results }: Pick<ExportBody, 'cells' | 'results'>): ImportPart[] {
  const parts: { cells: (readonly [string, Json])[]; results: ImportedResult[] }[] = []
  let heavy = Number.POSITIVE_INFINITY
  const partFor = (item: Json) => {
    heavy += weight(item, API_LIMITS.batchWeight)
    if (heavy > PART_WEIGHT) {
      parts.push({ cells: [], results: [] })
      heavy = weight(item, API_LIMITS.batchWeight)
    }
    return parts.at(-1)!
  }
  for (const { cell, value } of cells) partFor([cell, value]).cells.push([cell, value])
  for (const result of results) partFor(result as unknown as Json).results.push(result)
  return parts
}

async function askAnyone(
  call: Moving,
  callFor: (place: ParticipantPlace) => ParticipantCall,
): Promise<Answer> {
  const { c, services, parameters } = call
  const answer = await services.routing.anyone({
    lock: parameters.lock,
    from: () => whereFrom(c.get('incoming')),
    limitMs: services.times.answerMs,
    ask: (place, leftMs) =>
      services.caller.call(parameters.lock, place, callFor(place), { limitMs: leftMs, caller: callerOf(c) }),
  })
  if (answer.type === 'opened' || answer.type === 'gone') throw new Error('this opens nothing')
  return answer
}
