/** `export` and `import`: a lock is saved, and brought back, here or at another service. */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { ImportPart, ImportPiece } from '../../../shared/resource/import.ts'
import type { ExportHead, ExportPage } from '../../participant/calls/export.ts'
import type { ParticipantCall, ParticipantStatus } from '../../participant/calls.ts'
import { json, malformed, oversized, pass, problemResponse, respond } from '../answers.ts'
import { callerOf } from '../authentication.ts'
import { configurationFrom, describeConfiguration } from '../configuration.ts'
import { type Call, type Handlers, type RouterContext, runLater } from '../context.ts'
import { type ExportSource, exportStream } from '../export-stream.ts'
import { ImportDocument, type ImportHead, ImportRefused, textsOf } from '../import-document.ts'
import { partsOf } from '../import-parts.ts'
import { whereFrom } from '../nearest.ts'
import { type Answer, addressOf, bodyOf, isNoSuchLock, type Plan } from '../routing.ts'
import { checkConfiguration } from './locks.ts'

export const movingHandlers = {
  exportLock: async call => {
    const { c, parameters } = call
    const { answer, place } = await askAnyoneAt(call, () => ({ type: 'export' }), { onlyReads: true })
    if (answer.type !== 'done' || place === null) return pass(c, answer)
    const first = bodyOf<ExportPage>(answer)
    const source = pagesFrom(call, place, first)
    if (c.req.method === 'HEAD') {
      await source.end()
      return respond(c, 200, null)
    }
    return respond(c, 200, exportStream(headOf(parameters.lock, first.head!), source))
  },

  importLock: async call => {
    const document = new ImportDocument(textsOf(call.c.req.raw.body, API_LIMITS.importBytes))
    try {
      return await importFrom(call, document)
    } catch (error) {
      if (error instanceof ImportRefused) return refusal(call.c, error)
      throw error
    } finally {
      await document.close()
    }
  },
} satisfies Partial<Handlers>

/** The lock is empty for others until the last operation puts all parts in place. */
async function importFrom(call: Call<'importLock'>, document: ImportDocument): Promise<Response> {
  const { c, services, parameters } = call
  const { lock } = parameters
  const head = await document.head()
  const from = whereFrom(c.get('incoming'))
  const defaults = services.defaults(lock)
  const { participants, ...wish } = head.configuration
  const places = participants.map(({ location }) => (location === null ? {} : { location }))
  const wanted = configurationFrom(lock, defaults, { ...wish, participants: places } as never, from)
  const impossible = checkConfiguration(c, defaults, wanted)
  if (impossible !== null) return impossible
  if (head.resource !== wanted.resource) {
    const detail = `The export is of the resource ${head.resource}; a lock of this name guards ${wanted.resource}.`
    return problemResponse(c, 'conflict', detail)
  }
  const by = services.randomUser()
  const imported = { epoch: head.epoch, sequence: head.sequence, by }
  const begun = await begin(call, { ...wanted, imported })
  if (begun.answer.type !== 'done') {
    runLater(c, removeIfCreated(call, by))
    return pass(c, begun.answer)
  }
  const { created, configuration } = bodyOf<{ created: boolean; configuration: LockConfiguration }>(
    begun.answer,
  )
  services.routing.learn(lock, configuration)
  // Whoever is asked a second time, because the first answer got lost, says that the lock is there already.
  const isOurs = created || configuration.imported?.by === by
  if (!isOurs || begun.place === null)
    return problemResponse(
      c,
      'conflict',
      'There is a lock of this name already. Delete it, or import under another.',
    )
  const importer = services.randomUser()
  const place = memberNear(begun.place, configuration)
  const failure = await fill(call, place, document, head, importer).catch(refusedBy)
  if (failure === null) return json(c, 201, describeConfiguration(lock, configuration))
  const isComplete = await remove(call, configuration, { importer, place })
  // Only the answer that said so got lost.
  if (isComplete) return json(c, 201, describeConfiguration(lock, configuration))
  if (failure instanceof ImportRefused) return refusal(c, failure)
  if (isNoSuchLock(failure))
    return problemResponse(c, 'conflict', 'Somebody deleted this lock while it was being imported.')
  return pass(c, failure)
}

/** Whoever was asked for the birth, or the first owner: not all that know of the lock have a part in it. */
function memberNear(
  asked: ParticipantPlace,
  { participants, firstOwner }: LockConfiguration,
): ParticipantPlace {
  const isAsked = (place: ParticipantPlace) => addressOf(place) === addressOf(asked)
  return participants.find(isAsked) ?? participants.find(({ id }) => id === firstOwner) ?? asked
}

/** What is left of an import would keep its name. Returns whether all of it is there: then it stays. */
async function remove(
  call: Call<'importLock'>,
  { generation = 1 }: LockConfiguration,
  begun?: { readonly importer: string; readonly place: ParticipantPlace },
): Promise<boolean> {
  const { services, parameters } = call
  const user = services.randomUser()
  const unlessUsed = { ifUnused: true, ...(begun && { importer: begun.importer }) } as const
  const end: ParticipantCall = { type: 'delete', user, force: true, generation, ...unlessUsed }
  // Elsewhere, the import would be somebody who holds the lock.
  const there =
    begun &&
    (await services.caller.call(parameters.lock, begun.place, end, { limitMs: services.times.answerMs }))
  const isSettled = there?.type === 'answered' && there.answer.type !== 'elsewhere'
  const answer = isSettled ? there.answer : await askAnyone(call, () => end).catch(() => undefined)
  if (answer?.type === 'problem' && answer.more?.isComplete === true) return true
  services.routing.forget(parameters.lock)
  return false
}

/** Nobody has said whether the lock was created: if it was, nobody will ever fill it. */
async function removeIfCreated(call: Call<'importLock'>, by: string): Promise<void> {
  const answer = await askAnyone(call, () => ({ type: 'status' }))
  if (answer.type !== 'done') return
  const { configuration } = bodyOf<ParticipantStatus>(answer)
  if (configuration.imported?.by === by) await remove(call, configuration)
}

function refusedBy(error: unknown): ImportRefused {
  if (error instanceof ImportRefused) return error
  throw error
}

const refusal = (c: RouterContext, { code, errors }: ImportRefused): Response =>
  code === 'too_large' ? oversized(c, errors) : malformed(c, errors)

/** What is left of an import whose router is gone is held for so long; longer ones are kept alive. */
const HOLD_MS = 120_000
const KEEP_MS = 30_000

type Moving = Call<'exportLock'> | Call<'importLock'>

/** What stands before the results and the state. */
function headOf(lock: string, { configuration, ...rest }: ExportHead): object {
  const { lock: _, ...described } = describeConfiguration(lock, configuration)
  return { format: 1, lock, resource: configuration.resource, configuration: described, ...rest }
}

/** All pages are of the participant that has begun the export: nobody else has that point. */
function pagesFrom(call: Call<'exportLock'>, place: ParticipantPlace, first: ExportPage): ExportSource {
  const { services, parameters, c } = call
  const ask = (next: number | null) => {
    const asked: ParticipantCall = { type: 'export', page: { id: first.id, next } }
    const options = { limitMs: services.times.answerMs, caller: callerOf(c) }
    return services.caller.call(parameters.lock, place, asked, options)
  }
  return {
    first,
    page: async next => {
      const result = await ask(next)
      if (result.type !== 'answered') throw new Error('the participant does not answer')
      const { answer } = result
      if (answer.type !== 'done') throw new Error(answer.type === 'problem' ? answer.detail : answer.type)
      return answer.body as unknown as ExportPage
    },
    end: async () => {
      // The client need not wait for that.
      if (first.next !== null) runLater(c, ask(null))
    },
  }
}

/** The lock is born, and holds nothing yet. */
const begin = (call: Call<'importLock'>, configuration: LockConfiguration) =>
  askAnyoneAt(call, asked => {
    const isOne = configuration.participants.some(({ id }) => id === asked.id)
    return {
      type: 'configure',
      configuration: isOne ? { ...configuration, firstOwner: asked.id } : configuration,
    }
  })

/** Returns what went wrong, or `null`. All of it is done at the participant where the lock was born. */
async function fill(
  call: Call<'importLock'>,
  place: ParticipantPlace,
  document: ImportDocument,
  { droppedThrough }: ImportHead,
  user: string,
): Promise<Answer | null> {
  const { services } = call
  const { lock } = call.parameters
  const ask = async (asked: ParticipantCall): Promise<Answer> => {
    const result = await services.caller.call(lock, place, asked, { limitMs: services.times.answerMs })
    return result.type === 'answered' && result.answer.type !== 'elsewhere' ? result.answer : SILENT
  }
  const entered = await ask({
    ...{ type: 'acquire', user, waitMs: API_LIMITS.waitMs.default, ttlMs: HOLD_MS },
    ...{ ticket: false, confirm: true, owner: 'import' },
  })
  if (entered.type !== 'done') return entered
  const { fence } = (entered.body as unknown as { readonly grant: { readonly fence: number } }).grant
  let number = 0
  let keptAt = performance.now()
  const put = (part: ImportPart | ImportPiece | null) =>
    ask({ type: 'import', user, fence, number: part === null ? number : number++, part, droppedThrough })
  for await (const part of partsOf(document.items())) {
    if (performance.now() - keptAt > KEEP_MS) {
      keptAt = performance.now()
      await ask({ type: 'keepalive', user, fence, ttlMs: HOLD_MS })
    }
    const answer = await put(part)
    if (answer.type !== 'done') return answer
  }
  const finished = await put(null)
  if (finished.type !== 'done') return finished === SILENT ? IN_DOUBT : finished
  await ask({ type: 'release', user, fence })
  return null
}

/** The last part may have made it whole; then it is used, and stays. */
const IN_DOUBT: Answer = {
  type: 'problem',
  code: 'no_quorum',
  detail:
    'The last answer of the import got lost. It may be complete: look at the lock before you import again.',
  retryAfterSeconds: 1,
}

const SILENT: Answer = {
  type: 'problem',
  code: 'no_quorum',
  detail:
    'The participant where the lock was created does not answer. What was created of it is being deleted.',
  retryAfterSeconds: 1,
}

/** The answer, and whose it is. */
async function askAnyoneAt(
  call: Moving,
  callFor: (place: ParticipantPlace) => ParticipantCall,
  more: Pick<Plan, 'onlyReads'> = {},
): Promise<{ readonly answer: Answer; readonly place: ParticipantPlace | null }> {
  let place: ParticipantPlace | null = null
  const callAt = (asked: ParticipantPlace) => {
    place = asked
    return callFor(asked)
  }
  const answer = await askAnyone(call, callAt, more)
  return { answer, place }
}

async function askAnyone(
  call: Moving,
  callFor: (place: ParticipantPlace) => ParticipantCall,
  more: Pick<Plan, 'onlyReads'> = {},
): Promise<Answer> {
  const { c, services, parameters } = call
  const answer = await services.routing.anyone({
    lock: parameters.lock,
    from: () => whereFrom(c.get('incoming')),
    limitMs: services.times.answerMs,
    ...more,
    ask: (place, leftMs) =>
      services.caller.call(parameters.lock, place, callFor(place), { limitMs: leftMs, caller: callerOf(c) }),
  })
  if (answer.type === 'opened' || answer.type === 'gone') throw new Error('this opens nothing')
  return answer
}
