/** `POST …/import` while answers of participants get lost (worker/router/handlers/moving.ts). */
import { describe, expect, it } from 'vitest'
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type { Json } from '../../shared/json.ts'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { createHarness, DEFAULTS, done, NEAR_1, problemOf, refuse, stubError, usualAnswer } from './fake.ts'

const BODY = {
  ...{ format: 1, lock: 'stock', resource: 'key-value', epoch: 2, sequence: 9, droppedThrough: 0 },
  configuration: {
    ...{
      protocol: 'wme-2',
      participants: DEFAULTS.participants.map(({ id, location }) => ({ id, location })),
    },
    ...{ ttlMs: 30_000, detector: { heartbeatMs: 500, timeoutMs: 2_000 }, localHandoffs: 1 },
  },
  cells: [{ cell: '=a', value: { value: 1, revision: 1 } }],
  results: [],
}

type ImportCall = Extract<ParticipantCall, { readonly type: 'import' }>

/**
 * A lock that exists from its first `configure` on. `lose` decides which answers to it get lost, and how;
 * `answerTo` says what becomes of the parts.
 */
function importing(
  lose: (attempt: number, participant: number) => Error | ParticipantAnswer | null,
  answerTo: (part: ImportCall) => Error | ParticipantAnswer | null = () => null,
  answerToAcquire: ParticipantAnswer | null = null,
  answerToDelete: ParticipantAnswer | null = null,
) {
  const harness = createHarness()
  const { participants } = harness
  let chosen: LockConfiguration | null = null
  let attempts = 0
  const told = (created: boolean) => done(200, { created, configuration: chosen as unknown as Json })
  const answerOf = (call: ParticipantCall, participant: number): ParticipantAnswer => {
    if (call.type === 'status' && chosen !== null)
      return done(200, { configuration: chosen as unknown as Json })
    const known = { acquire: answerToAcquire, delete: answerToDelete } as {
      [type: string]: typeof answerToDelete
    }
    const answer = call.type === 'import' ? answerTo(call) : (known[call.type] ?? null)
    if (answer instanceof Error) throw answer
    if (call.type !== 'configure') return answer ?? usualAnswer(call, participant)
    const isFirst = chosen === null
    chosen ??= { ...call.configuration, generation: 4 }
    const lost = lose(++attempts, participant)
    if (lost instanceof Error) throw lost
    return lost ?? told(isFirst)
  }
  for (let id = 1; id <= 3; id++) participants.on(id, call => answerOf(call, id))
  const setLock = (configuration: LockConfiguration) => {
    chosen = configuration
  }
  return {
    ...harness,
    setLock,
    send: (body: object = BODY) => harness.send('POST', '/v1/locks/stock/import', body, { cf: NEAR_1 }),
  }
}

const deletions = (asked: readonly { readonly call: ParticipantCall }[]) =>
  asked.flatMap(({ call }) => (call.type === 'delete' ? [call] : []))

describe('an import whose lock was created', () => {
  const reset = () => stubError({ durableObjectReset: true })

  it('regression: goes on if the participant that has created it is reset, and asked again', async () => {
    const { send, participants } = importing(attempt => (attempt === 1 ? reset() : null))
    expect((await send()).status).toBe(201)
    expect(participants.order('configure')).toHaveLength(2)
    expect(participants.order('import')).toHaveLength(2)
  })

  it('goes on at another participant, which has heard of it meanwhile', async () => {
    const first: number[] = []
    const { send, participants } = importing((_, participant) => {
      first.push(participant)
      return participant === first[0] ? new Error('away') : null
    })
    expect((await send()).status).toBe(201)
    const [silent] = participants.order('configure')
    expect(participants.order('import').includes(silent!)).toBe(false)
  })

  it('regression: removes what has failed where it was begun, and asks nobody else', async () => {
    const noQuorumAtFirst = (attempt: number) => (attempt === 1 ? refuse('no_quorum') : null)
    const { send, participants } = importing(noQuorumAtFirst, () => refuse('conflict'))
    expect((await send()).status).toBe(409)
    expect(participants.order('delete')).toEqual([2])
    expect(participants.order('acquire')).toEqual([2])
  })

  it('removes it, in the background, if nobody has ever said so', async () => {
    const { send, participants, background } = importing(() => refuse('no_quorum'))
    expect((await send()).status).toBe(503)
    await Promise.all(background)
    expect(deletions(participants.asked)).toMatchObject([{ generation: 4, ifUnused: true }])
  })
})

describe('an import of which an answer got lost', () => {
  /** The answer to the last part, or to one before it. */
  const losing = (isLast: boolean) =>
    importing(
      () => null,
      ({ part }) => ((part === null) === isLast ? new Error('away') : null),
    )

  it('regression: may be complete if it was the last one, and says so', async () => {
    const { send, participants } = losing(true)
    const answer = await send()
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    const { code, detail } = await problemOf(answer)
    expect(code).toBe('no_quorum')
    expect(detail).toContain('It may be complete: look at the lock before you import again.')
    expect(detail).not.toContain('delete')
    // If it is complete, it is used, and stays (test/participant/failed-imports.test.ts).
    const importer = participants.asked.flatMap(({ call }) => (call.type === 'import' ? [call.user] : []))[0]
    expect(deletions(participants.asked)).toMatchObject([{ generation: 4, ifUnused: true, importer }])
  })

  it.each([new Error('away'), refuse('no_quorum', { outcome: 'unknown' })])(
    'regression: is done if it is known to be complete (%s)',
    async lost => {
      const harness = importing(
        () => null,
        ({ part }) => (part === null ? lost : null),
        null,
        refuse('conflict', { more: { isComplete: true } }),
      )
      const answer = await harness.send()
      expect(answer.status).toBe(201)
      expect(await answer.json()).toMatchObject({ lock: 'stock', protocol: 'wme-2' })
      expect(deletions(harness.participants.asked)).toHaveLength(1)
    },
  )

  it('regression: whose lock somebody deletes meanwhile says so, and not that there is none', async () => {
    const gone = { type: 'problem', code: 'no_such_lock', detail: 'No lock of this name.' } as const
    const none = () => null
    const imports = [importing(none, () => gone), importing(none, none, gone)]
    const answers = await Promise.all(imports.map(({ send }) => send()))
    for (const answer of answers) {
      expect(answer.status).toBe(409)
      const detail = 'Somebody deleted this lock while it was being imported.'
      expect(await problemOf(answer)).toMatchObject({ code: 'conflict', detail })
    }
  })

  it('is not complete if it was another one, and is deleted', async () => {
    const { send, participants } = losing(false)
    const answer = await send()
    expect(answer.status).toBe(503)
    expect((await problemOf(answer)).detail).toContain('is being deleted')
    expect(deletions(participants.asked)).toHaveLength(1)
  })
})

describe('an import under the name of another lock', () => {
  const imported = { epoch: 2, sequence: 9 }
  it.each([
    ['that was configured', DEFAULTS],
    ['that an earlier build has imported', { ...DEFAULTS, imported }],
    ['that another import of the same has made', { ...DEFAULTS, imported: { ...imported, by: 'another' } }],
  ])('%s is refused, and changes nothing of it', async (_, configuration) => {
    for (const lost of [null, refuse('no_quorum')]) {
      const { send, setLock, participants, background } = importing(() => lost)
      setLock(configuration)
      const answer = await send()
      expect((await problemOf(answer)).code).toBe(lost === null ? 'conflict' : 'no_quorum')
      await Promise.all(background)
      expect([participants.order('acquire'), participants.order('delete')]).toEqual([[], []])
    }
  })
})
